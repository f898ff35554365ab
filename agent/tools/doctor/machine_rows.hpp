// The rows of `doctor` about processes, limits, the boot, the guest and its clock.
#pragma once

#include "agent/tools/doctor/checks.hpp"

namespace pvrdma::doctor {

[[nodiscard]] Check memlock(const Survey& survey);
[[nodiscard]] Check holders(const Snapshot& snapshot, const Survey& survey);
[[nodiscard]] Check boot(const Snapshot& snapshot, const Survey& survey);
[[nodiscard]] Check guest(const Snapshot& snapshot, const Survey& survey);
[[nodiscard]] Check clock_row(const Survey& survey);

}  // namespace pvrdma::doctor
