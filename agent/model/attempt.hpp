// Attempt and Ledger: what the executor has tried in this boot, as it wrote it down under /run.
//
// The executor writes an attempt before it starts and again when it ends, so a reader (or a daemon
// that was killed and started again) sees every try, and no budget is spent twice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/clock.hpp"

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
  std::string verb;    // "ReloadDriver"
  std::string target;  // "vmw_pvrdma"
  BootTime started;
  std::optional<BootTime> finished;   // none: under way, or the executor died in it
  Outcome outcome = Outcome::Failed;  // meaningful once finished
  std::string detail;                 // one line for a person; empty when Done
  friend bool operator==(const Attempt&, const Attempt&) = default;
};

struct Ledger {
  std::vector<Attempt> attempts;  // the newest last; the executor keeps the newest 64
  std::uint64_t reloads = 0;      // of this boot, never forgotten: vmw_pvrdma removed
  std::uint64_t rebinds = 0;
  friend bool operator==(const Ledger&, const Ledger&) = default;
};

[[nodiscard]] const char* to_string(Outcome outcome);
[[nodiscard]] std::optional<Outcome> outcome_from(const std::string& text);

}  // namespace pvrdma
