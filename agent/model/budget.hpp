// SPDX-License-Identifier: GPL-2.0-or-later
// Budget: how often something may be tried, and how long to wait between the tries.
//
// Counted from the executor's ledger, so a daemon that is killed and started again spends nothing
// twice. Attempts before `fresh_start` are forgiven. A try that was refused because somebody holds
// the device cost nothing and is not counted, but is not repeated at once either. What a success
// means depends: a rung of the ladder that is needed again did not help; a module that is needed
// again was unloaded by somebody, which only counts if that was a moment after the try that it
// made needless, or is all that this try came to.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/model/action.hpp"
#include "agent/model/attempt.hpp"

namespace pvrdma {

struct Allowance {
  enum class Verdict { Now, Later, GiveUp } verdict = Verdict::Now;
  BootTime when{};                // for Later
  unsigned tries = 0;             // counted so far
  const Attempt* last = nullptr;  // the newest one counted; points into the ledger
  // The guard's refusal, as long as it is the last word; points into the ledger as well.
  const Attempt* refused = nullptr;
};

// True where the kernel did what was asked, or had no need to.
[[nodiscard]] bool worked(const Attempt& attempt);

// `target` empty: attempts at any target. `pauses`: before the first, second, … try; as many tries
// are allowed as it has entries. `watched_from`: since when a try that worked and is needed again
// shortly after the pause before the next one counts as having led to nothing; what worked before
// that, while nobody saw who undid it, only counts for some seconds. Empty: each success counts.
[[nodiscard]] Allowance allowance(const Ledger& ledger, const std::vector<Verb>& verbs,
                                  const std::string& target, std::span<const Milliseconds> pauses,
                                  BootTime fresh_start, BootTime now,
                                  std::optional<BootTime> watched_from);

// The most reloads and rebinds that the executor does for the agent's user, in any ten minutes. No
// fresh start lifts it, as the executor need not believe in one. The planner keeps to it too, and
// seldom comes near: spaced_out() of its ladder lets six reloads of ten minutes pass, and what
// remains is for an administrator who asks for some, or takes vmxnet3 away again and again.
inline constexpr Milliseconds kLimitWindow{600'000};
inline constexpr unsigned kMostReloads = 30;  // of all adapters

// When the operation may be done again; none: it may be done now, or is one without a limit.
[[nodiscard]] std::optional<BootTime> limited_until(const Ledger& ledger,
                                                    const Operation& operation, BootTime now);

}  // namespace pvrdma
