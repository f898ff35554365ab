// Waiting for what makes a fresh clone the machine it is to be (probes/customization.hpp).
//
// Modules are loaded, functions bound and links brought up meanwhile: none of it depends on who the
// machine is. Addresses and MTU wait, as what is configured now may be the template's; for a
// bounded time, as a customization that hangs must not keep an adapter down for ever.
#pragma once

#include "agent/plan/draft.hpp"

namespace pvrdma {

// Rule 4 has to wait. What cannot be read is waited for like what is known to be under way.
[[nodiscard]] bool awaits_customization(const Inputs& in);

// Says what is waited for, or no longer waited for.
void report_customization(const Inputs& in, Draft& draft);

}  // namespace pvrdma
