// SPDX-License-Identifier: GPL-2.0-or-later
// What the lines beside the recipe set on the adapters' links, as [[adapter]] tables for the
// agent's configuration. Read by line and word: what holds a variable is not read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/config.hpp"
#include "probes/recipe/find.hpp"

namespace pvrdma::ctl::moving {

struct LinkSettings {
  std::string netdev;
  std::string mac{};  // empty: not known
  std::optional<unsigned> mtu{};
  std::vector<std::string> addresses{};  // "192.168.30.201/24"
  std::vector<std::string> from{};       // "/etc/rc.local:7"
  // The netplan files among these, which go on configuring the link until it is taken out there.
  std::vector<std::string> netplan{};
};

// One for each interface, without what the configuration has for it by its name or MAC.
[[nodiscard]] std::vector<LinkSettings> find_link_settings(const Root& root,
                                                           const probes::Recipe& recipe,
                                                           const probes::RecipeScope& scope,
                                                           const Config& config);

// What netplan's files set on Ethernet links, read by line and indentation alone. An entry that
// matches its link by something else than its name is left out, as is what is written in braces. Of
// /etc/netplan/*.yaml that root alone can have written; files that cannot be read are passed over.
[[nodiscard]] std::vector<LinkSettings> netplan_links(const Root& root);
[[nodiscard]] std::vector<LinkSettings> parse_netplan(const std::string& file,
                                                      std::string_view text);

// The tables; empty where there are none.
[[nodiscard]] std::string to_toml(const std::vector<LinkSettings>& links);

}  // namespace pvrdma::ctl::moving
