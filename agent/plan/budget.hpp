// Budget: how often something may be tried, and how long to wait between the tries.
//
// Counted from the executor's ledger, so a daemon that is killed and started again spends nothing
// twice. Attempts before History::fresh_start are forgiven. A try that was refused because somebody
// holds the device cost nothing and is not counted, but is not repeated at once either. What a
// success means depends: a rung of the ladder that is needed again did not help; a module that is
// needed again was unloaded by somebody, which only counts if it was a moment ago.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/model/attempt.hpp"
#include "agent/model/health.hpp"

namespace pvrdma {

struct Allowance {
  enum class Verdict { Now, Later, GiveUp } verdict = Verdict::Now;
  BootTime when{};                // for Later
  unsigned tries = 0;             // counted so far
  const Attempt* last = nullptr;  // the newest one counted; points into the ledger
};

// `target` empty: attempts at any target. `pauses`: before the first, second, … try; as many tries
// are allowed as it has entries.
// True where the kernel did what was asked, or had no need to.
[[nodiscard]] bool worked(const Attempt& attempt);

enum class Success { Counts, CountsWhileRecent };
[[nodiscard]] Allowance allowance(const Ledger& ledger, const std::vector<std::string>& verbs,
                                  const std::string& target,
                                  const std::vector<Milliseconds>& pauses, BootTime fresh_start,
                                  BootTime now, Success success);

}  // namespace pvrdma
