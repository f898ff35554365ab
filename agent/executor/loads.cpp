// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/executor/loads.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

namespace pvrdma::executor {

namespace {

bool ends_within(const std::future<OperationResult>& load, Milliseconds time) {
  return load.wait_for(time) == std::future_status::ready;
}

bool goes_on(const std::pair<const std::string, std::future<OperationResult>>& load) {
  return !ends_within(load.second, Milliseconds{0});
}

}  // namespace

OperationResult Loads::run(const std::string& name, Insert insert) {
  loads_.erase(name);  // an earlier load that has ended late
  if (auto started = start(name, std::move(insert)); !started) return failed(started.error());
  const auto load = loads_.find(name);
  if (!ends_within(load->second, patience_))
    return failed({ETIMEDOUT, "waiting for the load of", name});
  auto ended = std::move(load->second);
  loads_.erase(load);
  return ended.get();
}

bool Loads::under_way(const std::string& name) const {
  const auto load = loads_.find(name);
  return load != loads_.end() && goes_on(*load);
}

bool Loads::under_way() const { return std::ranges::any_of(loads_, goes_on); }

// The thread inherits the signal mask, so it takes none of the signals that the loop waits for.
// Holding all other signals as well would hold them in `install` commands too.
Result<void> Loads::start(const std::string& name, Insert insert) try {
  std::packaged_task<OperationResult()> task{std::move(insert)};
  loads_.emplace(name, task.get_future());
  std::thread{std::move(task)}.detach();
  return {};
} catch (const std::system_error& error) {
  loads_.erase(name);
  return fail(error.code().value(), "starting a thread for the load of", name);
}

}  // namespace pvrdma::executor
