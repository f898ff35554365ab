// Whether a boot took unusually long, and in which step.
#pragma once

#include <optional>
#include <vector>

#include "agent/model/timeline.hpp"

namespace pvrdma {

// So many boots make a median.
inline constexpr std::size_t kBootsToCompare = 3;
// Twice as long is slow, but not by less than this: a busy host costs a boot as much.
inline constexpr Milliseconds kNoteworthy{2000};
// An adapter first seen later than this is not there by the boot: it was plugged in, or the agent
// was started by hand. Such a boot is compared with none.
inline constexpr Milliseconds kBootAtMost{600'000};

struct SlowBoot {
  // AgentStarted: from then to ready was slow. None: from the boot's beginning to ready was.
  std::optional<StepKind> since;
  Milliseconds took{0};
  Milliseconds usual{0};  // the median of `boots`
  std::size_t boots = 0;
  // The step whose own duration, since the step before it, grew most over its median (zero where
  // most boots have no such step).
  Step step;
  Milliseconds step_took{0};
  Milliseconds step_usual{0};
  friend bool operator==(const SlowBoot&, const SlowBoot&) = default;
};

// `earlier`: the boots before, in any order. None: not slow, not ready yet, or nothing to go by. A
// boot that was ready at or before the first look is compared with none, either.
[[nodiscard]] std::optional<SlowBoot> slow_boot(const Timeline& boot,
                                                const std::vector<Timeline>& earlier);

}  // namespace pvrdma
