// SPDX-License-Identifier: GPL-2.0-or-later
// Attempt and Ledger: what the executor has tried in this boot, as it wrote it down under /run.
//
// The executor writes an attempt before it starts and again when it ends, so a reader (or a daemon
// that was killed and started again) sees every try, and no budget is spent twice.
//
// What is kept is bounded, and by kind: nothing that can be asked for at will, a refusal or a load
// of what is loaded, takes the place of what a budget counts.
#pragma once

#include <cstdint>
#include <optional>
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
  InUse,        // somebody holds the device or the module
  NotAllowed,   // the executor's guard refused the request
  Failed,       // any other error
};

struct Attempt {
  Verb verb = Verb::LoadModule;
  std::string target;  // "vmw_pvrdma"
  BootTime started;
  std::optional<BootTime> finished;   // none: under way, or the executor died in it
  Outcome outcome = Outcome::Failed;  // meaningful once finished
  std::string detail;                 // one line for a person; empty when Done
  friend bool operator==(const Attempt&, const Attempt&) = default;
};

struct Ledger {
  std::vector<Attempt> attempts;  // the newest last
  std::vector<Attempt> refusals;  // as well: nothing was done, as it was in use or not allowed
  std::uint64_t reloads = 0;      // of this boot, never forgotten: vmw_pvrdma removed
  std::uint64_t rebinds = 0;
  friend bool operator==(const Ledger&, const Ledger&) = default;
};

// Of the reloads and rebinds, and of all else, so many of each.
inline constexpr std::size_t kAttemptsKept = 64;
inline constexpr std::size_t kRefusalsKept = 32;
inline constexpr std::size_t kDetailKept = 256;  // bytes
inline constexpr std::size_t kTargetKept = 64;

// When it ended, or began where it has not ended.
[[nodiscard]] inline BootTime end_of(const Attempt& attempt) {
  return attempt.finished.value_or(attempt.started);
}

// Ended without anything having been done.
[[nodiscard]] bool is_refusal(const Attempt& attempt);

// Adds the newest attempt to those it belongs to, and drops what is too old to be kept. A refusal
// takes the place of an equal one before it.
void add(Ledger& ledger, Attempt attempt);

[[nodiscard]] const char* to_string(Outcome outcome);
[[nodiscard]] std::optional<Outcome> outcome_from(const std::string& text);

}  // namespace pvrdma
