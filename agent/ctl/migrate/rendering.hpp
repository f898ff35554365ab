// What `migrate` found and did, as JSON and as text for an administrator. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "agent/ctl/migrate/change.hpp"
#include "agent/ctl/text.hpp"

namespace pvrdma::ctl::moving {

using Json = nlohmann::json;

[[nodiscard]] Json to_json(const probes::Recipe& recipe, const std::vector<Change>& changes);
// The files with their lines; what each does, and what of it the agent does or why it is left.
[[nodiscard]] std::string render_recipe(const probes::Recipe& recipe, const Style& style);
// A line for each that worked; failures() has the others.
[[nodiscard]] std::string render_changes(const std::vector<Change>& changes);
[[nodiscard]] std::vector<std::string> failures(const std::vector<Change>& changes);

}  // namespace pvrdma::ctl::moving
