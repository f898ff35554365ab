// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the owner of an adapter's link in the network managers' configuration on disk, and in which
// of them systemd starts: netplan, systemd-networkd, NetworkManager (keyfiles and ifcfg files) and
// ifupdown.
//
// A running manager can be asked (probes/link_owner.hpp); before the next boot none can. So its
// files are read for the links they match. Where a match depends on something that is not read
// here, the manager is an owner that has not decided.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"
#include "probes/settings.hpp"

namespace pvrdma::probes {

// A vmxnet3 link, as far as it is known; an empty field matches nothing.
struct LinkNames {
  std::string netdev;  // "ens224f0"
  std::string mac;     // lower case
};

// Absent: no manager that starts at boot has the link.
[[nodiscard]] Field<LinkOwner> link_owner_on_disk(const Root& root, const LinkNames& link);

enum class Match { No, Maybe, Yes };

// Matches [Match] of a .network file (systemd.network(5)).
[[nodiscard]] Match match_network(const std::vector<Setting>& settings, const LinkNames& link);
// Matches a keyfile of NetworkManager (nm-settings-keyfile(5)), or an ifcfg file.
[[nodiscard]] Match match_keyfile(const std::vector<Setting>& settings, const LinkNames& link);
[[nodiscard]] Match match_ifcfg(const std::vector<Setting>& settings, const LinkNames& link);

struct NetplanFile {
  Match match = Match::No;
  bool network_manager = false;  // renderer: NetworkManager
};
// Read by lines for the keys that name interfaces: an id that is the interface's name, `name`,
// `macaddress` and `driver`.
[[nodiscard]] NetplanFile match_netplan(std::string_view text, const LinkNames& link);

}  // namespace pvrdma::probes
