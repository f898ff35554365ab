// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/ctl/keeping.hpp"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "agent/base/file.hpp"
#include "agent/base/notify.hpp"
#include "agent/ctl/follower.hpp"

namespace pvrdma::ctl {

namespace {

// The latest health after changes. Without a change this asks the agent: a hanging agent reports no
// change, and a working one gives a newer look.
HealthResult next(Follower& follower, const Settings& settings, const Pace& pace) {
  auto news = follower.next(pace.refresh);
  if (!news) return ask_health(settings.socket, settings.answer_within);
  const BootTime end = BootClock::now() + pace.burst;
  for (auto left = pace.burst; left > Milliseconds{0}; left = end - BootClock::now())
    if (auto more = follower.next(left)) news = std::move(more);
  return std::move(*news);
}

}  // namespace

int keep_up(const Settings& settings, const Pace& pace,
            const std::function<int(const HealthResult&)>& act) {
  Follower follower{settings.socket, settings.answer_within};
  for (unsigned done = 0; !pace.times || done < *pace.times; ++done) {
    if (const int code = act(next(follower, settings, pace)); code != 0) return code;
    notify("READY", "1");
    notify("WATCHDOG", "1");
  }
  return 0;
}

Result<void> replace_regular_file(const std::string& path, const std::string& text) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return fail(0, "writing", path + ": it is no regular file");
  return replace_file(path, text, 0644);
}

Result<void> remove_regular_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return fail(0, "removing", path + ": it is no regular file");
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fail(errno, "removing", path);
  return {};
}

}  // namespace pvrdma::ctl
