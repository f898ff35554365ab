// SPDX-License-Identifier: GPL-2.0-or-later
// The findings and changes of `migrate`, as JSON and as text for an administrator. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "agent/ctl/text.hpp"
#include "agent/tools/migrate/change.hpp"
#include "agent/tools/migrate/link_settings.hpp"

namespace pvrdma::ctl::migration {

using Json = nlohmann::json;

[[nodiscard]] Json to_json(const probes::Recipe& recipe, const std::vector<LinkSettings>& links,
                           const std::vector<Change>& changes);
// The files with their lines: which lines go, which are left to a person, and why.
[[nodiscard]] std::string render_recipe(const probes::Recipe& recipe, const Style& style);
// The configuration tables that replace the lines that set links.
[[nodiscard]] std::string render_links(const std::vector<LinkSettings>& links, const Style& style);
// A line for each change that was made, or that a person has to make; failures() has the others.
[[nodiscard]] std::string render_changes(const std::vector<Change>& changes);
[[nodiscard]] std::vector<std::string> failures(const std::vector<Change>& changes);

}  // namespace pvrdma::ctl::migration
