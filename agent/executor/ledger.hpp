// SPDX-License-Identifier: GPL-2.0-or-later
// LedgerWriter: writes down under /run what was tried, before it starts and after it has ended.
//
// The one writer of that file (agent/model/attempt.hpp tells its meaning). An attempt that a dead
// executor left unfinished stays so until the next one opens the ledger and ends it as Failed. A
// ledger that cannot be read is never written over: the counts in it are the budget, and without
// them nothing that disturbs is done.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "agent/base/error.hpp"
#include "agent/model/action.hpp"
#include "agent/model/report.hpp"

namespace pvrdma::executor {

enum class Caller {
  Agent,  // its user, whoever that has become: held to the limits of agent/model/budget.hpp
  Root,
};

class LedgerWriter {
 public:
  // Reads the file, and ends what was left unfinished in it at `now`.
  LedgerWriter(std::filesystem::path path, BootTime now);

  // Why nothing can be written down; empty: all is well. Each write tries anew, except where the
  // file could not be understood.
  [[nodiscard]] const Result<void>& state() const noexcept { return state_; }

  // One attempt at a time: begin, then end. A Report of begin() says why the operation, which
  // disturbs, may not be done: it has been done too often, or cannot be written down.
  [[nodiscard]] std::optional<Report> begin(const Operation& operation, Caller caller,
                                            BootTime now);
  void end(const Report& report, BootTime now);
  void refuse(const Operation& operation, const Report& report, BootTime now);

  // Written with the next end(): vmw_pvrdma was removed, a function was unbound.
  void count_reload() noexcept { ++ledger_.reloads; }
  void count_rebind() noexcept { ++ledger_.rebinds; }

 private:
  void write();

  std::filesystem::path path_;
  Ledger ledger_;
  Result<void> state_;
  bool understood_ = true;
};

}  // namespace pvrdma::executor
