// SPDX-License-Identifier: GPL-2.0-or-later
// Follows WatchHealth across restarts of the agent.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"
#include "agent/ctl/commands.hpp"
#include "agent/ctl/connection.hpp"
#include "agent/varlink/client.hpp"

namespace pvrdma::ctl {

// Waits for a socket file to appear, by inotify(7) on its directory or, while that is missing, on
// the nearest existing directory above it.
class SocketWatch {
 public:
  explicit SocketWatch(std::string path) : path_(std::move(path)) {}

  // Starts (or restarts) the watch. Call it before a try to connect, so that no change between the
  // try and the wait is missed.
  void arm();
  // Returns when something happened there, or after `timeout`. Where inotify does not work (no
  // watches left), it returns after 200 ms at most.
  void wait(Milliseconds timeout);

 private:
  std::string path_;
  Fd inotify_;
};

class Follower {
 public:
  // `answer_within`: how long the agent may take for its first answer on a connection.
  Follower(std::string socket, Milliseconds answer_within);

  // The next health, or why there is no health, unless the last result had the same reason. None:
  // `timeout` has passed without a change.
  [[nodiscard]] std::optional<HealthResult> next(Milliseconds timeout);

 private:
  [[nodiscard]] std::optional<NoAnswer> connect(Milliseconds timeout);
  [[nodiscard]] std::optional<HealthResult> receive(Milliseconds timeout);
  // Closes the connection, and sets the time of the next try.
  void hang_up();
  // Returns `trouble`, unless it was returned last.
  [[nodiscard]] std::optional<HealthResult> told(NoAnswer trouble);

  std::string socket_;
  Milliseconds answer_within_;
  SocketWatch watch_;
  std::optional<varlink::Client> client_;
  BootTime answer_by_;                // deadline of the first answer on this connection
  bool answered_ = false;             // on this connection
  std::optional<BootTime> retry_at_;  // after a connection was lost or refused
  std::optional<NoAnswer> told_;
};

// Keeps a file or another output up to date with the agent's health.

struct Pace {
  // Without a change the output is renewed after this time.
  Milliseconds refresh = std::chrono::minutes{1};
  // Changes within this time after a first change are combined.
  Milliseconds burst = std::chrono::seconds{1};
  std::optional<unsigned> times = std::nullopt;  // none: until a signal ends the process
};

// Calls `act` with the latest health, or why there is none: at once, after each change, and after
// each `refresh`. Returns the first result of `act` that is not 0. After each call it sends READY=1
// and WATCHDOG=1 to the service manager.
int keep_up(const Settings& settings, const Pace& pace,
            const std::function<int(const HealthResult&)>& act);

// replace_file(), but fails where the path exists and is no regular file, such as a device.
[[nodiscard]] Result<void> replace_regular_file(const std::string& path, const std::string& text);
// Removes a regular file. Fails for anything else, links included; a missing file is no error.
[[nodiscard]] Result<void> remove_regular_file(const std::string& path);

}  // namespace pvrdma::ctl
