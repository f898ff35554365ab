// SPDX-License-Identifier: GPL-2.0-or-later
// Attempt and Ledger: the executor's record, under /run, of what it has tried in this boot.
//
// The executor writes each attempt before it starts and again when it ends. So every reader sees
// every attempt, and a daemon that is killed and started again spends no budget twice.
//
// The size of a ledger is bounded, with a limit for each kind: refusals, and loads of modules that
// are loaded already, can be asked for without limit, so they must not evict the reloads and
// rebinds that a budget counts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/model/action.hpp"

namespace pvrdma {

enum class Outcome {
  Done,         // the kernel did it
  AlreadyDone,  // nothing was left to do
  NotShipped,   // this kernel has no such module
  Refused,      // the kernel refuses the module: signature, lockdown, block list
  InUse,        // a holder of the device or the module prevents it
  NotAllowed,   // the executor's guard refused the request
  Failed,       // any other error
};
template <>
inline constexpr auto kWordsOf<Outcome> =
    std::to_array<Word<Outcome>>({{Outcome::Done, "done"},
                                  {Outcome::AlreadyDone, "already_done"},
                                  {Outcome::NotShipped, "not_shipped"},
                                  {Outcome::Refused, "refused"},
                                  {Outcome::InUse, "in_use"},
                                  {Outcome::NotAllowed, "not_allowed"},
                                  {Outcome::Failed, "failed"}});

struct Attempt {
  Verb verb = Verb::LoadModule;
  std::string target;  // "vmw_pvrdma"
  BootTime started;
  std::optional<BootTime> finished;   // none: under way, or the executor died during it
  Outcome outcome = Outcome::Failed;  // meaningful once finished
  std::string detail;                 // one line for a person; empty when Done
  friend bool operator==(const Attempt&, const Attempt&) = default;
};

struct Ledger {
  std::vector<Attempt> attempts;  // the newest last
  std::vector<Attempt> refusals;  // the newest last: nothing was done, as the target was in use or
                                  // the request not allowed
  std::uint64_t reloads = 0;      // removals of vmw_pvrdma in this boot, never forgotten
  std::uint64_t rebinds = 0;
  friend bool operator==(const Ledger&, const Ledger&) = default;
};

// The limit for reloads and rebinds, and again for all other attempts.
inline constexpr std::size_t kAttemptsKept = 64;
inline constexpr std::size_t kRefusalsKept = 128;
// Of the guard's refusals of one operation, so many that the pause after them is the longest.
inline constexpr std::size_t kRefusalsInARow = 8;
inline constexpr std::size_t kDetailKept = 256;  // bytes
inline constexpr std::size_t kTargetKept = 64;

// The time when the attempt ended, or when it began if it has not ended.
[[nodiscard]] inline BootTime end_of(const Attempt& attempt) {
  return attempt.finished.value_or(attempt.started);
}

// True where the attempt ended and changed nothing.
[[nodiscard]] bool is_refusal(const Attempt& attempt);

// Whether the ledger has an equal refusal, with the same detail, of the ten minutes before this
// one.
[[nodiscard]] bool repeats_refusal(const Ledger& ledger, Attempt refusal);

// Adds the newest attempt to the list of its kind, and drops the oldest where the list is full. A
// refusal "in use" replaces an equal earlier one, as do refusals by the guard beyond a few.
void add(Ledger& ledger, Attempt attempt);

// Budget: how often something may be tried, and how long to wait between the tries.
//
// Tries are counted from the executor's ledger, so a daemon that is killed and started again spends
// no budget twice. Attempts before `fresh_start` are forgiven. A try that was refused is not
// counted, as it cost nothing, but it is not repeated at once either. The meaning of a success
// depends on the operation. A reload that is needed again did not help, so it counts. A module that
// is needed again was unloaded by another program; its load counts only if the unload came a moment
// after it.

struct Allowance {
  enum class Verdict { Now, Later, GiveUp } verdict = Verdict::Now;
  BootTime when{};                // for Later
  unsigned tries = 0;             // how many count
  const Attempt* last = nullptr;  // the newest that counts; points into the ledger
  // The guard's refusal, unless a later attempt was allowed; points into the ledger as well.
  const Attempt* refused = nullptr;

  // `last`, if it has ended without success; else null.
  [[nodiscard]] const Attempt* failure() const;
};

// True where the kernel did what was asked, or the state was so already.
[[nodiscard]] bool worked(const Attempt& attempt);

// The pause between the tries of an operation that goes on after its last allowed try.
inline constexpr Milliseconds kSlowRetry{600'000};

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
inline constexpr Milliseconds kReloadWindow{600'000};
inline constexpr unsigned kMostReloads = 30;  // of all adapters

// The time from which the operation is allowed again; none: it is allowed now, or has no limit.
[[nodiscard]] std::optional<BootTime> limited_until(const Ledger& ledger,
                                                    const Operation& operation, BootTime now);

}  // namespace pvrdma
