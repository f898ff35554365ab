// What a look adds to the timeline of a boot.
#pragma once

#include "agent/model/config.hpp"
#include "agent/model/health.hpp"
#include "agent/model/timeline.hpp"

namespace pvrdma {

// `before` is null for the first look of this agent: what it finds reached, was reached then or
// before. `health` is the verdict on `now`. Once ready, the boot has come to its end: later only
// what was still missing of the adapters seen by then is added (an address by DHCP), and nothing
// that was done to the machine for other reasons.
[[nodiscard]] Timeline advance(Timeline timeline, const Config& config, const Snapshot* before,
                               const Snapshot& now, const Health& health);

}  // namespace pvrdma
