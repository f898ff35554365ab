// SPDX-License-Identifier: GPL-2.0-or-later
// What configures a link: the bond, bridge, team or VRF that it is in, or a network manager, which
// is systemd-networkd, NetworkManager or ifupdown; netplan works through one of the first two, and
// shows in the name of the file they go by.
//
// Managers are asked, or what they write about themselves is read; their configuration is not
// interpreted in their place, but for ifupdown's, which says nothing of itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"
#include "probes/systemd.hpp"

namespace pvrdma::probes {

// Absent: the link has no master, and no manager runs, or is enabled and still to start, that has
// it or may take it. One `bus` serves the links of a whole look.
[[nodiscard]] Field<LinkOwner> link_owner(const Root& root, const std::string& name, int index,
                                          SystemBus& bus);

// The content of a link's state file in /run/systemd/netif/links (src/network/networkd-link.c,
// link_save(); sd_network_link_get_setup_state() reads the same). Absent: networkd leaves the link
// alone.
[[nodiscard]] Field<LinkOwner> parse_networkd_link(const std::string& state);

// What NetworkManager says about one device.
struct ManagedDevice {
  bool managed = false;
  std::uint32_t state = 0;   // NMDeviceState
  std::uint32_t reason = 0;  // NMDeviceStateReason: why it is in that state
  bool networking = true;  // NetworkManager's NetworkingEnabled: false after `nmcli networking off`
  bool active = false;     // it has an active connection
  bool external = false;   // which only mirrors what another program has configured
  std::string file;        // the active connection's keyfile
};

// Absent: the link is left alone, or what is on it is known to be another's. A link that
// NetworkManager has put down, or was told to, is its own still. While networking is off, a link
// that it has not had since it started may be one it would take (tried with NetworkManager 1.42).
[[nodiscard]] Field<LinkOwner> owner_from(const ManagedDevice& device);

// Absent: NetworkManager does not run and is not enabled either, or leaves the link alone. Asks
// nothing over the bus while it does not run; the bus and NetworkManager are waited for half a
// second at most.
[[nodiscard]] Field<LinkOwner> network_manager_owner(const Root& root, const std::string& name,
                                                     SystemBus& bus);

// A file of interfaces(5), by which Debian's ifupdown configures links.
struct InterfacesFile {
  std::vector<std::string> interfaces;  // with an `iface` stanza
  // Words of `bond-slaves` and `bridge_ports` lines: names, "none", "all", "regex" before an
  // extended regular expression (bridge-utils-interfaces(5), ifenslave's README.Debian).
  std::vector<std::string> ports;
  std::vector<std::string> sources;  // patterns of `source`, directories of `source-directory`
};

// Continued lines are joined, comments skipped; what is not understood is passed over, as it is
// ifupdown's to complain about.
[[nodiscard]] InterfacesFile parse_interfaces(std::string_view text);

// Absent: no ifupdown is installed, or no file it reads has a stanza for the interface, or makes it
// a part of a bond or bridge.
[[nodiscard]] Field<LinkOwner> ifupdown_owner(const Root& root, const std::string& name);

}  // namespace pvrdma::probes
