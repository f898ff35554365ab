// What a look adds to the timeline of a boot.
#pragma once

#include "agent/model/config.hpp"
#include "agent/model/health.hpp"
#include "agent/model/timeline.hpp"

namespace pvrdma {

// `before` is null for the first look of this agent: what it finds reached, was reached then or
// before. `health` is the verdict on `now`. What the executor does is not among them: it tells of
// that itself (agent/executor/main.cpp).
[[nodiscard]] Timeline advance(Timeline timeline, const Config& config, const Snapshot* before,
                               const Snapshot& now, const Health& health);

}  // namespace pvrdma
