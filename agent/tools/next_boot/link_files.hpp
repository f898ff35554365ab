// SPDX-License-Identifier: GPL-2.0-or-later
// Whose the link of an adapter will be, by the configuration of network managers on disk and by
// which of them systemd starts: netplan, systemd-networkd, NetworkManager (keyfiles and ifcfg
// files) and ifupdown.
//
// A running manager is asked (probes/link_owner.hpp); before the next boot nobody can be. So its
// files are read for what they match, and where a match depends on what is not read here the owner
// is one that has not decided.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"
#include "probes/settings.hpp"

namespace pvrdma::probes {

// A link of vmxnet3, as far as it is known; an empty part matches nothing.
struct LinkNames {
  std::string netdev;  // "ens224f0"
  std::string mac;     // lower case
};

// Absent: no manager that starts at boot has it.
[[nodiscard]] Field<LinkOwner> link_owner_on_disk(const Root& root, const LinkNames& link);

enum class Match { No, Maybe, Yes };

// [Match] of a .network file (systemd.network(5)).
[[nodiscard]] Match match_network(const std::vector<Setting>& settings, const LinkNames& link);
// A keyfile of NetworkManager's (nm-settings-keyfile(5)), or an ifcfg file.
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
