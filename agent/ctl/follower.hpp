// SPDX-License-Identifier: GPL-2.0-or-later
// Follows WatchHealth across restarts of the agent.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "agent/base/clock.hpp"
#include "agent/base/handle.hpp"
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

  // The next health; or why there is none at present, unless the last result had the same reason;
  // or none, when `timeout` has passed without a change.
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

}  // namespace pvrdma::ctl
