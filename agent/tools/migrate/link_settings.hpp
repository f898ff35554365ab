// SPDX-License-Identifier: GPL-2.0-or-later
// The settings that lines next to the recipe make on adapters' links, as [[adapter]] tables for the
// agent's configuration. Read by line and word; a line with a variable is not read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/config.hpp"
#include "probes/recipe/find.hpp"

namespace pvrdma::ctl::migration {

struct LinkSettings {
  std::string netdev;
  std::string mac{};  // empty: not known
  std::optional<unsigned> mtu{};
  std::vector<std::string> addresses{};  // "192.168.30.201/24"
  std::vector<std::string> from{};       // "/etc/rc.local:7"
  // The netplan files among these: they configure the link until the entry is taken out there.
  std::vector<std::string> netplan{};
  bool has_table = false;  // the configuration has an [[adapter]] table for the link
};

// One for each interface, without the settings that the configuration has for its name or MAC.
[[nodiscard]] std::vector<LinkSettings> find_link_settings(const Root& root,
                                                           const probes::Recipe& recipe,
                                                           const probes::RecipeScope& scope,
                                                           const Config& config);

// The settings of Ethernet links in netplan's files, read by line and indentation only. An entry
// that matches its link by something other than its name is left out, and so is a text in braces.
// Reads /etc/netplan/*.yaml that only root can have written; a file that cannot be read is left
// out.
[[nodiscard]] std::vector<LinkSettings> netplan_links(const Root& root);
[[nodiscard]] std::vector<LinkSettings> parse_netplan(const std::string& file,
                                                      std::string_view text);

// The tables that a configuration takes, and a comment for each interface with more than it takes,
// such as two in one subnet, or that has a table already, as only one may match. Empty: there are
// no links.
[[nodiscard]] std::string to_toml(const std::vector<LinkSettings>& links);

}  // namespace pvrdma::ctl::migration
