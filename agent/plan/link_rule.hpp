// Rule 4: the adapters' links, up and as configured where they are ours, and compared where they
// are a network manager's.
#pragma once

#include "agent/plan/draft.hpp"

namespace pvrdma {

// Never before vmw_pvrdma is live: on Linux 6.1 and 6.12 a link that comes up while the driver
// probes is a kernel oops (agent/executor/event_queue.hpp). Where the configuration says
// manage = "auto", MTU and addresses wait until no network manager is left that may take the link,
// or for a minute, and in any case until nothing customizes the VM (customization.hpp); being up
// does not.
void configure_links(const Inputs& in, Draft& draft);

// True where the link has all that the configuration gives it, and the addresses can be used.
[[nodiscard]] bool link_is_complete(const Config& config, const Adapter& adapter);

}  // namespace pvrdma
