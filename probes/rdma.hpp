// SPDX-License-Identifier: GPL-2.0-or-later
// The RDMA device of an adapter: its attributes from sysfs, its port and paired netdev from nldev.
//
// Reading a port's state sends a command to the device, which waits up to ten seconds if the device
// is dead. nldev needs one command for state, physical state and netdev; sysfs needs one for each
// attribute, so it is used only where the kernel's nldev does not know the device. Attributes that
// need a command and are not used (`rate`) are not read.
#pragma once

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/base/text.hpp"
#include "agent/model/snapshot.hpp"
#include "probes/pci.hpp"
#include "probes/rdma_nldev.hpp"

namespace pvrdma::probes {

// "4: ACTIVE" (Linux drivers/infiniband/core/sysfs.c), by its number; its word is not read.
// EBADMSG: another form.
template <numbered Enum>
[[nodiscard]] Result<Enum> parse_sysfs_state(std::string_view text) {
  const auto number = number_from<std::uint8_t>(text.substr(0, text.find(": ")));
  if (!number || text.find(": ") == std::string_view::npos)
    return fail(EBADMSG, "reading the port state", std::string{text});
  return static_cast<Enum>(*number);
}
// "fe80:0000:…" -> the format of inet_ntop(3); empty for the zero GID of an unused entry.
[[nodiscard]] Result<std::string> parse_sysfs_gid(const std::string& text);

// Absent: the device has gone since the PCI function was looked at. `nldev` is used if it could be
// opened. `before` (or null): the same function in an earlier look; it saves reading unused GID
// entries. observe() adds aliases and the answer of ibv_query_port(3).
[[nodiscard]] Field<RdmaDevice> look_at_rdma(const Root& root, const PciAdapter& adapter,
                                             Result<Nldev>& nldev, const RdmaDevice* before);

// "uverbs0", from a function's folder in sysfs; absent where ib_uverbs has no node for it, so that
// no process can hold it.
[[nodiscard]] Field<std::string> verbs_node(const std::filesystem::path& function);

// The non-zero GIDs of port 1 of any RDMA device, by its name below /sys/class/infiniband.
[[nodiscard]] std::vector<Gid> read_gid_table(const Root& root, const std::string& device);

// Earlier names of the device, from udev's links to its verbs node
// (/dev/infiniband/by-ibdev/uverbs-NAME): a link made before a rename keeps the old name.
[[nodiscard]] std::vector<std::string> names_of_links(const Root& root, const RdmaDevice& device);

}  // namespace pvrdma::probes
