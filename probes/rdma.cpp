// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/rdma.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "agent/base/held_signals.hpp"

namespace pvrdma::probes {

namespace {

// Reading an attribute of an unused GID entry gives EINVAL (ENOENT in some releases).
Field<std::string> gid_attribute(const std::filesystem::path& path) {
  auto text = read_attribute(path);
  if (!text && text.error().code == EINVAL) return {};
  return Field<std::string>::from(std::move(text));
}

// One entry of the port's GID table; `gid` stays empty where the entry is unused.
Gid read_gid(const std::filesystem::path& port, unsigned index) {
  const std::string name = std::to_string(index);
  Gid gid;
  gid.index = index;
  gid.gid = read_attribute(port / "gids" / name).and_then(parse_sysfs_gid).value_or("");
  if (gid.gid.empty()) return gid;
  gid.type = gid_attribute(port / "gid_attrs/types" / name);
  gid.netdev = gid_attribute(port / "gid_attrs/ndevs" / name);
  return gid;
}

std::vector<Gid> read_gids(const std::filesystem::path& port, unsigned end) {
  std::vector<Gid> gids;
  for (unsigned index = 0; index < end; ++index)
    if (Gid gid = read_gid(port, index); !gid.gid.empty()) gids.push_back(std::move(gid));
  return gids;
}

// The kernel puts a new GID into the lowest free entry (Linux drivers/infiniband/core/cache.c,
// find_gid), except the first few, which it keeps for default GIDs. A deleted entry reads as empty
// at once, but it is free only when the last queue pair that refers to it is gone
// (GID_TABLE_ENTRY_PENDING_DEL). So if the entries in `before` and the empty ones after them have
// not changed, no other entry has, unless jobs hold kEmptyRead deleted entries in a row. That saves
// reading a table of up to 512 entries at each look. An empty entry costs three system calls.
std::vector<Gid> look_at_gids(const std::filesystem::path& port, const RdmaDevice* before) {
  constexpr unsigned kDefaultEntries = 4;
  constexpr unsigned kEmptyRead = 8;
  if (before != nullptr) {
    const unsigned known = before->gids.empty() ? 0 : before->gids.back().index + 1;
    auto gids = read_gids(port, std::max(known, kDefaultEntries) + kEmptyRead);
    if (gids == before->gids) return gids;
  }
  const auto names = list_directory(port / "gids");
  return names ? read_gids(port, static_cast<unsigned>(names->size())) : std::vector<Gid>{};
}

// True where nldev knows the device, even if its answer was an error.
bool port_from_nldev(Result<Nldev>& nldev, RdmaDevice& device) {
  if (!nldev) return false;
  const NldevDevice* known = nldev->find(device.name);
  // The device was renamed, or is new, since the list was read.
  if (known == nullptr && nldev->list()) known = nldev->find(device.name);
  if (known == nullptr) return false;
  auto port = nldev->port(known->index);
  if (!port) {
    // The device has gone since the list was read, or the kernel has no PORT_GET; sysfs tells
    // which.
    if (port.error().code == EINVAL || port.error().code == EOPNOTSUPP) return false;
    port.error().what = device.name;
    device.port.state = Field<PortState>::unreadable(port.error());
    device.port.phys_state = Field<PhysState>::unreadable(port.error());
    device.netdev = Field<std::string>::unreadable(port.error());
    return true;
  }
  device.port.state = std::move(port->state);
  device.port.phys_state = std::move(port->phys_state);
  device.netdev = std::move(port->netdev);
  return true;
}

// The device of a function by its name; absent where the device does not have that name (any more).
Field<RdmaDevice> look_at_device(const std::filesystem::path& function, const std::string& name,
                                 Result<Nldev>& nldev, const RdmaDevice* before) {
  const auto directory = function / "infiniband" / name;
  const auto port = directory / "ports/1";
  RdmaDevice device;
  device.name = printable(name);
  device.node_guid = Field<std::string>::from(read_attribute(directory / "node_guid"));
  if (device.node_guid.is_absent()) return {};
  device.uverbs = verbs_node(function);
  // Reading the port's state sends a device command.
  const HeldSignals held;
  if (!port_from_nldev(nldev, device)) {
    device.port.state = Field<PortState>::from(
        read_attribute(port / "state").and_then(parse_sysfs_state<PortState>));
    device.port.phys_state = Field<PhysState>::from(
        read_attribute(port / "phys_state").and_then(parse_sysfs_state<PhysState>));
    device.netdev = Field<std::string>::unreadable(
        nldev ? Error{ENODATA, "asking nldev about", device.name} : nldev.error());
  }
  device.port.link_layer = Field<std::string>::from(read_attribute(port / "link_layer"));
  device.gids =
      look_at_gids(port, before != nullptr && before->name == device.name ? before : nullptr);
  return device;
}

}  // namespace

Result<std::string> parse_sysfs_gid(const std::string& text) {
  in6_addr gid{};
  std::array<char, INET6_ADDRSTRLEN> printed{};
  if (::inet_pton(AF_INET6, text.c_str(), &gid) != 1 ||
      ::inet_ntop(AF_INET6, &gid, printed.data(), printed.size()) == nullptr)
    return fail(EBADMSG, "reading the GID", text);
  if (IN6_IS_ADDR_UNSPECIFIED(&gid)) return std::string{};
  return std::string{printed.data()};
}

Field<RdmaDevice> look_at_rdma(const Root& root, const PciAdapter& adapter, Result<Nldev>& nldev,
                               const RdmaDevice* before) {
  if (const Error* error = adapter.rdma_device.error())
    return Field<RdmaDevice>::unreadable(*error);
  if (!adapter.rdma_device.is_known()) return {};
  const auto function = function_path(root, adapter.function);
  auto device = look_at_device(function, *adapter.rdma_device.get(), nldev, before);
  if (!device.is_absent()) return device;
  // The device has gone, or udev has renamed it since the list was read.
  const auto names = list_directory(function / "infiniband");
  if (!names || names->empty()) return {};
  return look_at_device(function, names->front(), nldev, before);
}

Field<std::string> verbs_node(const std::filesystem::path& function) {
  auto names = list_directory(function / "infiniband_verbs");
  if (!names) return Field<std::string>::from(fail(std::move(names.error())));
  for (std::string& name : *names)
    if (name.starts_with("uverbs")) return std::move(name);
  return {};
}

std::vector<Gid> read_gid_table(const Root& root, const std::string& device) {
  return look_at_gids(root / ("/sys/class/infiniband/" + device + "/ports/1"), nullptr);
}

std::vector<std::string> names_of_links(const Root& root, const RdmaDevice& device) {
  constexpr std::string_view kPrefix = "uverbs-";
  std::vector<std::string> names;
  if (!device.uverbs.is_known()) return names;
  const auto directory = root / "/dev/infiniband/by-ibdev";
  const auto links = list_directory(directory);
  if (!links) return names;
  for (const std::string& link : *links) {
    if (!link.starts_with(kPrefix)) continue;
    const auto node = link_target_name(directory / link);
    std::string name = printable(link.substr(kPrefix.size()));
    if (node && *node == *device.uverbs.get() && name != device.name)
      names.push_back(std::move(name));
  }
  return names;
}

}  // namespace pvrdma::probes
