// Rules 1 to 3: modules in, functions bound. All of it takes nothing away from anybody.
#pragma once

#include "agent/plan/draft.hpp"

namespace pvrdma {

// Rule 1: vmxnet3 and the modules that must precede vmw_pvrdma.
void load_predecessors(const Inputs& in, Draft& draft);

// Rule 2: vmw_pvrdma, last.
void load_driver(const Inputs& in, Draft& draft);

// Rule 3: a function whose probe failed.
void bind_functions(const Inputs& in, Draft& draft);

}  // namespace pvrdma
