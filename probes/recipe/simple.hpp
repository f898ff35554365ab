// Whether a command line is nothing but loads and unloads of the agent's modules, so that it can be
// commented out as a whole. Anything that is not plain is not simple.
#pragma once

#include <string>
#include <string_view>

#include "probes/recipe/command.hpp"

namespace pvrdma::probes {

inline constexpr const char* kRecipeDriver = "vmw_pvrdma";

// "/lib/modules/…/vmw-pvrdma.ko.xz" -> "vmw_pvrdma"
[[nodiscard]] std::string module_of(std::string_view word);

// One that the agent loads, or that comes with one of these.
[[nodiscard]] bool is_module_of_agent(const std::string& module, const RecipeScope& scope);

// Empty where it is simple: one or several of `modprobe [-afqrsv] MODULE…`, `rmmod MODULE…`,
// `insmod FILE` and `sleep N` between ";" or "&&", each with nothing more than `sudo` before it and
// redirections to /dev/null, `2>&1`, `|| true` after it.
[[nodiscard]] std::string why_not_simple(std::string_view text, const RecipeScope& scope);

}  // namespace pvrdma::probes
