// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the manager of a link: the bond, bridge or team that it belongs to, or systemd-networkd,
// NetworkManager or ifupdown. netplan uses systemd-networkd or NetworkManager, and is recognised by
// the name of their configuration file.
//
// Managers are asked, or their state files are read. Only the configuration of ifupdown is
// interpreted here, as ifupdown has no such state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"
#include "probes/systemd.hpp"

namespace pvrdma::probes {

// Absent: the link has no master other than a VRF, and no manager that runs or will start has it or
// may take it. One `bus` serves the links of a whole look.
[[nodiscard]] Field<LinkOwner> link_owner(const Root& root, const std::string& name, int index,
                                          SystemBus& bus);

// The content of a link's state file in /run/systemd/netif/links (src/network/networkd-link.c,
// link_save(); sd_network_link_get_setup_state() reads the same). Absent: networkd does not manage
// the link.
[[nodiscard]] Field<LinkOwner> parse_networkd_link(const std::string& state);

// NetworkManager's data about one device.
struct ManagedDevice {
  bool managed = false;
  std::uint32_t state = 0;   // NMDeviceState
  std::uint32_t reason = 0;  // NMDeviceStateReason: the reason of that state
  bool networking = true;  // NetworkManager's NetworkingEnabled: false after `nmcli networking off`
  bool active = false;     // the device has an active connection
  bool external = false;   // that connection only mirrors another program's configuration
  std::string file;        // the active connection's keyfile
};

// Absent: NetworkManager does not manage the link, or only mirrors another program's configuration.
// A link that NetworkManager has taken down, by itself or on request, is still managed by it. While
// networking is off, a link that it has not managed since its start may be one that it would manage
// (tried with NetworkManager 1.42).
[[nodiscard]] Field<LinkOwner> owner_from(const ManagedDevice& device);

// Absent: NetworkManager neither runs nor is enabled, or does not manage the link. Uses the bus
// only while NetworkManager runs; waits for the bus and NetworkManager for half a second at most.
[[nodiscard]] Field<LinkOwner> network_manager_owner(const Root& root, const std::string& name,
                                                     SystemBus& bus);

// A file of interfaces(5), the configuration of Debian's ifupdown.
struct InterfacesFile {
  std::vector<std::string> interfaces;  // those with an `iface` stanza
  // Words of `auto`, `allow-auto` and `allow-hotplug` lines: names, also as NAME=CONFIGURATION, and
  // patterns between slashes.
  std::vector<std::string> started;
  // Words of `bond-slaves` and `bridge_ports` lines: names, "none", "all", "regex" before an
  // extended regular expression (bridge-utils-interfaces(5), ifenslave's README.Debian).
  std::vector<std::string> ports;
  std::vector<std::string> sources;  // patterns of `source`
  std::vector<std::string> folders;  // of `source-directory`
};

// Continued lines are joined, comments skipped. Unknown lines are ignored, as ifupdown itself
// reports them.
[[nodiscard]] InterfacesFile parse_interfaces(std::string_view text);

// Absent: ifupdown is not installed, or no file that it reads has a stanza for the interface, also
// by NAME=CONFIGURATION, or makes it a part of a bond or bridge.
[[nodiscard]] Field<LinkOwner> ifupdown_owner(const Root& root, const std::string& name);

// Whether ifupdown brings the link up by itself, at boot or when its device appears. A part of a
// bond or bridge counts as such; so does any link where the files have a pattern.
[[nodiscard]] Result<bool> ifupdown_starts(const Root& root, const std::string& name);

}  // namespace pvrdma::probes
