// Rules 5 and 6: the ladder for a port that does not come up, the least disruptive rung first, and
// the reload that the configuration or an administrator asks for.
//
// Guards: no rung that takes the driver away is planned unless it is known that nobody holds any
// adapter. With several adapters no unbind is local (a leaving one takes its neighbours' netdevs
// away, Linux 6.1 and 6.12), so the rung above the bounce is a reload for all of them.
#pragma once

#include "agent/plan/draft.hpp"

namespace pvrdma {

// True where rule 5 has to do something about this adapter, or will once it has settled.
[[nodiscard]] bool is_broken(const Snapshot& snapshot, const Adapter& adapter);

void climb_ladder(const Inputs& in, Draft& draft);

}  // namespace pvrdma
