// SPDX-License-Identifier: GPL-2.0-or-later
// The RDMA device of an adapter: sysfs for what it is, nldev for its port and paired netdev.
//
// A port's state is a command to the device, which waits up to ten seconds where the device is
// dead. nldev gives state, physical state and netdev for one command; sysfs (one command for each
// attribute) is asked only where the kernel's nldev does not know the device. Attributes that cost
// a command and serve nobody (`rate`) are not read.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"
#include "probes/pci.hpp"
#include "probes/rdma_nldev.hpp"

namespace pvrdma::probes {

// "4: ACTIVE" -> "ACTIVE" (Linux drivers/infiniband/core/sysfs.c). EBADMSG: not of that form.
[[nodiscard]] Result<std::string> parse_sysfs_state(std::string_view text);
// "5: LinkUp" -> "LINK_UP", "7: Phy Test" -> "PHY_TEST".
[[nodiscard]] Result<std::string> parse_sysfs_phys_state(std::string_view text);
// "fe80:0000:…" -> as inet_ntop(3) writes it; empty for the zero GID of an unused entry.
[[nodiscard]] Result<std::string> parse_sysfs_gid(const std::string& text);

// Absent: the device has gone since the PCI function was looked at. `nldev` is asked as far as it
// could be opened. `before` (or null): what an
// earlier look saw of the same function; it saves reading unused GID entries. Aliases and what
// ibv_query_port(3) tells are left to observe().
[[nodiscard]] Field<RdmaDevice> look_at_rdma(const Root& root, const PciAdapter& adapter,
                                             Result<Nldev>& nldev, const RdmaDevice* before);

// "uverbs0", of a function's folder in sysfs; absent where ib_uverbs has no node for it, and nobody
// can hold it then.
[[nodiscard]] Field<std::string> verbs_node(const std::filesystem::path& function);

// The non-zero GIDs of port 1 of any RDMA device, by its name below /sys/class/infiniband.
[[nodiscard]] std::vector<Gid> read_gid_table(const Root& root, const std::string& device);

// Names other than its present one under which udev has linked the device's verbs node
// (/dev/infiniband/by-ibdev/uverbs-NAME): a link made before the device was renamed keeps the old
// name.
[[nodiscard]] std::vector<std::string> names_of_links(const Root& root, const RdmaDevice& device);

}  // namespace pvrdma::probes
