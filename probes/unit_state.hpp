// systemd's word about a unit, asked over the system bus: whether it has still to run, runs, or is
// through.
#pragma once

#include <string>

#include "agent/base/error.hpp"

namespace pvrdma::probes {

// True where the unit is being started or stopped, or has a job that waits for its turn; false
// where it is active, failed, inactive with nothing to come, or unknown to systemd. Bounded: half a
// second for each of two questions. Errors: no bus (as early in a boot), no answer.
[[nodiscard]] Result<bool> unit_is_in_motion(const std::string& unit);

}  // namespace pvrdma::probes
