// SPDX-License-Identifier: GPL-2.0-or-later
// Names that a configuration and a request to the executor use: of modules and netdevs, MAC and PCI
// addresses. Each function yields the normal form, which is the form that the kernel prints, or
// none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pvrdma {

// Letters, digits, "_" and "-"; dashes become underscores, as in /proc/modules. At most 55
// characters (MODULE_NAME_LEN of Linux, include/linux/module.h: 64 - sizeof(long), with the
// NUL).
[[nodiscard]] std::optional<std::string> module_name(std::string_view text);

// Six bytes of two hexadecimal digits between colons -> lower case.
[[nodiscard]] std::optional<std::string> mac_address(std::string_view text);

// "0000:13:00.1", or "13:00.1" as lspci(8) prints it in domain 0 -> lower case, with the domain.
[[nodiscard]] std::optional<std::string> pci_address(std::string_view text);

// As dev_valid_name() of Linux, net/core/dev.c: 1 to 15 bytes, no "/", ":" or white space. Control
// characters, which the kernel accepts, are refused too.
[[nodiscard]] std::optional<std::string> netdev_name(std::string_view text);

}  // namespace pvrdma
