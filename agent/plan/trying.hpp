// Trying something gentle: planned while its budget allows, said to be failing or given up
// otherwise.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/plan/draft.hpp"

namespace pvrdma {

// Before the first, second, … try of what harms nobody.
[[nodiscard]] const std::vector<Milliseconds>& gentle_pauses();

// True where health is `failed` without the module: vmxnet3, and modules.required.
[[nodiscard]] bool is_required(const Config& config, const std::string& module);

// Acts if the budget for this verb and target allows it now; says so if it is used up.
void try_within_budget(const Inputs& in, Draft& draft, Operation operation, std::string reason,
                       std::optional<std::string> adapter);

}  // namespace pvrdma
