// Rules 1 to 4: everything that takes nothing away from anybody.
#pragma once

#include "agent/plan/draft.hpp"

namespace pvrdma {

// Rule 1: vmxnet3 and the modules that must precede vmw_pvrdma.
void load_predecessors(const Inputs& in, Draft& draft);

// Rule 2: vmw_pvrdma, last.
void load_driver(const Inputs& in, Draft& draft);

// Rule 3: a function whose probe failed.
void bind_functions(const Inputs& in, Draft& draft);

// Rule 4: links that are ours and down. Never before vmw_pvrdma is live: on Linux 6.12 a link that
// comes up while the driver probes is a kernel oops (pvrdma_netdevice_event_work).
void configure_links(const Inputs& in, Draft& draft);

}  // namespace pvrdma
