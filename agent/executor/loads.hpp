// SPDX-License-Identifier: GPL-2.0-or-later
// Loads: insertions of modules, each in a thread of its own, awaited for a bounded time.
//
// An insertion may never return: the module's init function may hang, or that of a dependency which
// another program loads, for which the kernel waits without limit (add_unformed_module(),
// kernel/module/main.c, Linux 6.1), or an `install` command of modprobe.d. An insertion cannot be
// cancelled, so a thread that is late is left behind, and the executor goes on with other
// operations.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <string>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/model/operation_result.hpp"

namespace pvrdma::executor {

// Less than the time after which the agent calls an operation stuck (20 s,
// agent/plan/step_calls.cpp).
inline constexpr Milliseconds kLoadPatience{15'000};

class Loads {
 public:
  // May run until the program ends, also while destructors run, so it must own what it uses.
  using Insert = std::function<OperationResult()>;

  explicit Loads(Milliseconds patience) : patience_{patience} {}

  // The result of `insert`, or Failed with ETIMEDOUT where it has not ended in time. Its late
  // result is not kept: the next call tries again, as a module may have been removed since its
  // load. Failed with the errno where no thread can be started. Must not be called while one of
  // that name is under way.
  [[nodiscard]] OperationResult run(const std::string& name, Insert insert);

  // Whether an insertion is under way that was not awaited to its end.
  [[nodiscard]] bool under_way(const std::string& name) const;
  [[nodiscard]] bool under_way() const;

 private:
  [[nodiscard]] Result<void> start(const std::string& name, Insert insert);

  Milliseconds patience_;
  std::map<std::string, std::future<OperationResult>> loads_;
};

}  // namespace pvrdma::executor
