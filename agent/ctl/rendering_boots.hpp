// Timelines of boots as text: a column for each boot, a row for each step. Pure. `boots` has one at
// least.
#pragma once

#include <string>
#include <vector>

#include "agent/ctl/text.hpp"
#include "agent/model/timeline.hpp"

namespace pvrdma::ctl {

// The newest is on the left. As many as fit stand side by side, the others below. A cell is
// "12.34 +0.41": the seconds since the boot began, and since the step before; "12.34 (0.04)" of a
// load, with the seconds in the kernel; "<= 12.34" where it was reached then or before; "-" where
// it was not.
[[nodiscard]] std::string render_boots(const std::vector<Timeline>& boots, const Style& style);

}  // namespace pvrdma::ctl
