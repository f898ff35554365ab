// `verify mesh`: every pair of several machines.
#pragma once

#include "agent/tools/verify/peer/command.hpp"

namespace pvrdma::ctl {

// Where the machines meet: 0: all pairs are well; 1: some stand out, or go over TCP; 2: some
// failed; 3: nothing was measured. Elsewhere 0, or 3 where this machine could not take part.
int verify_mesh(const Settings& settings, const Console& console, const VerifyOptions& options);

}  // namespace pvrdma::ctl
