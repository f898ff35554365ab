// SPDX-License-Identifier: GPL-2.0-or-later
// LedgerWriter: records each attempt under /run, before it starts and after it has ended.
//
// The only writer of that file (agent/model/attempt.hpp tells its meaning). An attempt that a dead
// executor left unfinished stays so until the next executor opens the ledger and ends the attempt
// as Failed. A ledger that cannot be read is never overwritten: its counts are the budget, and
// without them no reload or rebind is done.
#pragma once

#include <filesystem>
#include <optional>

#include "agent/base/error.hpp"
#include "agent/model/action.hpp"
#include "agent/model/operation_result.hpp"

namespace pvrdma::executor {

// The detail of an attempt that a dead executor left unfinished and a later executor has ended.
inline constexpr const char* kCutShort = "the executor ended during it";

class LedgerWriter {
 public:
  // Reads the file, and ends unfinished attempts in it at `now`.
  LedgerWriter(std::filesystem::path path, BootTime now);

  // Why the file cannot be written; empty: it can. Each write tries again, except where the file
  // could not be parsed.
  [[nodiscard]] const Result<void>& state() const noexcept { return state_; }

  // One attempt at a time: begin, then end, which counts a driver that was taken away. An
  // OperationResult of begin() says why a reload or rebind is refused: the limit is reached, or it
  // cannot be recorded.
  [[nodiscard]] std::optional<OperationResult> begin(const Operation& operation, Caller caller,
                                                     BootTime now);
  void end(const OperationResult& result, BootTime now);
  // True: the refusal repeats an equal one (agent/model/attempt.hpp).
  bool refuse(const Operation& operation, const OperationResult& result, BootTime now);

 private:
  void write();

  std::filesystem::path path_;
  Ledger ledger_;
  Result<void> state_;
  bool understood_ = true;
};

}  // namespace pvrdma::executor
