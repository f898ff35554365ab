// SPDX-License-Identifier: GPL-2.0-or-later
// Budget: how often something may be tried, and how long to wait between the tries.
//
// Tries are counted from the executor's ledger, so a daemon that is killed and started again spends
// no budget twice. Attempts before `fresh_start` are forgiven. A try that was refused because of a
// holder is not counted, as it cost nothing, but it is not repeated at once either. The meaning of
// a success depends on the operation. A reload that is needed again did not help, so it counts. A
// module that is needed again was unloaded by another program; its load counts only if the unload
// came a moment after it.
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
  unsigned tries = 0;             // how many count
  const Attempt* last = nullptr;  // the newest that counts; points into the ledger
  // The guard's refusal, unless a later attempt was allowed; points into the ledger as well.
  const Attempt* refused = nullptr;
};

// True where the kernel did what was asked, or the state was so already.
[[nodiscard]] bool worked(const Attempt& attempt);

// `target` empty: attempts at any target. `pauses`: the pause before the first, second, … try; its
// length is the number of tries allowed. `watched_from`: a success after this time counts if the
// next try starts soon after its pause. An earlier success, whose undoing the agent did not watch,
// counts for a few seconds only. Empty: each success counts.
[[nodiscard]] Allowance allowance(const Ledger& ledger, const std::vector<Verb>& verbs,
                                  const std::string& target, std::span<const Milliseconds> pauses,
                                  BootTime fresh_start, BootTime now,
                                  std::optional<BootTime> watched_from);

// The most reloads and rebinds that the executor does for the agent's user in any ten minutes. A
// fresh start does not lift this limit, as the executor has no proof of one. The planner keeps to
// the limit too, and seldom reaches it: its own backoff allows six reloads in ten minutes. The rest
// is left for an administrator who asks for reloads, or who removes vmxnet3 again and again.
inline constexpr Milliseconds kLimitWindow{600'000};
inline constexpr unsigned kMostReloads = 30;  // of all adapters

// The time from which the operation is allowed again; none: it is allowed now, or has no limit.
[[nodiscard]] std::optional<BootTime> limited_until(const Ledger& ledger,
                                                    const Operation& operation, BootTime now);

}  // namespace pvrdma
