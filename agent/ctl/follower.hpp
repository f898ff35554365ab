// Following WatchHealth for as long as one likes, across restarts of the agent.
#pragma once

#include <optional>
#include <string>

#include "agent/base/clock.hpp"
#include "agent/ctl/connection.hpp"
#include "agent/ctl/socket_watch.hpp"
#include "agent/varlink/client.hpp"

namespace pvrdma::ctl {

class Follower {
 public:
  // `answer_within`: how long the agent may take for its first answer on a connection.
  Follower(std::string socket, Milliseconds answer_within);

  // The next health object; or why there is none at present, once for each reason in a row; or
  // nothing, when `timeout` has passed without news.
  [[nodiscard]] std::optional<Answered<Answer<Health>>> next(Milliseconds timeout);

 private:
  [[nodiscard]] std::optional<NoAnswer> connect(Milliseconds timeout);
  [[nodiscard]] std::optional<Answered<Answer<Health>>> receive(Milliseconds timeout);
  [[nodiscard]] std::optional<Answered<Answer<Health>>> lost(NoAnswer trouble);

  std::string socket_;
  Milliseconds answer_within_;
  SocketWatch watch_;
  std::optional<varlink::Client> client_;
  BootTime answer_by_;                // of the first answer on this connection
  bool answered_ = false;             // on this connection
  std::optional<BootTime> retry_at_;  // after a connection was lost or refused
  std::optional<NoAnswer> told_;
};

}  // namespace pvrdma::ctl
