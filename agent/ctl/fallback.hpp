// The answer of the agent or, where none runs, of a look of our own.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "agent/ctl/commands.hpp"

namespace pvrdma::ctl {

enum class Wanted { Health, Plan };

// Says in one line on `err` that it looked itself. NoAnswer: neither gave one.
[[nodiscard]] Answered<Json> ask_or_look(const Settings& settings, const Console& console,
                                         Wanted wanted);

}  // namespace pvrdma::ctl
