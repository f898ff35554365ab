// SPDX-License-Identifier: GPL-2.0-or-later
// OperationResult: the result of an operation, which the executor sends to its client.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/model/attempt.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma {

struct OperationResult {
  Outcome outcome = Outcome::Failed;
  std::string detail;  // one line for a person; may be empty when Done
  int code = 0;        // errno; 0 where no system call was involved
  std::vector<Holder> holders{};
  // The driver was taken away from a function (unbound, or removed), whatever came after it. Only
  // for the executor, which counts it: not among the members (agent/model/members.hpp).
  bool driver_taken = false;
  // The refusal repeats an equal one (agent/model/attempt.hpp). Also only for the executor, which
  // logs the first.
  bool repeated = false;

  // True where the kernel is in the requested state.
  [[nodiscard]] bool good() const noexcept {
    return outcome == Outcome::Done || outcome == Outcome::AlreadyDone;
  }
  friend bool operator==(const OperationResult&, const OperationResult&) = default;
};

[[nodiscard]] inline OperationResult done() { return {Outcome::Done, {}, 0, {}}; }
[[nodiscard]] inline OperationResult already_done(std::string detail) {
  return {Outcome::AlreadyDone, std::move(detail), 0, {}};
}
[[nodiscard]] inline OperationResult failed(const Error& error) {
  return {Outcome::Failed, error.message(), error.code, {}};
}

}  // namespace pvrdma
