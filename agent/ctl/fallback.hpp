// The answer of the agent or, where none runs, of a look of our own.
#pragma once

#include "agent/ctl/commands.hpp"

namespace pvrdma::ctl {

// Says in one line on `err` that it looked itself. NoAnswer: neither gave one.
[[nodiscard]] Answered<Answer<Health>> health_or_look(const Settings& settings,
                                                      const Console& console);
[[nodiscard]] Answered<Answer<Plan>> plan_or_look(const Settings& settings, const Console& console);

}  // namespace pvrdma::ctl
