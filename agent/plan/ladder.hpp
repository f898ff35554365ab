// Rules 5 and 6: what is done for a port that does not come up once it has had time to settle, and
// the reload that the configuration or an administrator asks for.
//
// Guards: the driver is not taken away unless it is known that nobody holds any adapter. With
// several adapters no unbind is local (a leaving one takes its neighbours' netdevs away, Linux 6.1
// and 6.12), so it is a reload for all of them. Taking the link down and up is no remedy: no port
// is known that it mends.
#pragma once

#include "agent/plan/draft.hpp"

namespace pvrdma {

// True where rule 5 has to do something about this adapter, or will once it has settled.
[[nodiscard]] bool is_broken(const Snapshot& snapshot, const Adapter& adapter);

void climb_ladder(const Inputs& in, Draft& draft);

}  // namespace pvrdma
