// What is wrong with the networks of the adapters, whoever has configured them: findings, no
// actions.
#pragma once

#include "agent/plan/draft.hpp"

namespace pvrdma {

// Two adapters in one subnet, a default route over an adapter, an address outside the subnets that
// are configured for it.
void check_networks(const Inputs& in, Draft& draft);

}  // namespace pvrdma
