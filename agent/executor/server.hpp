// SPDX-License-Identifier: GPL-2.0-or-later
// Server: io.pvrdma.Executor on a socket that systemd has bound, for the agent's user and root. The
// agent's user is the owner of that socket, which its unit sees to (SocketUser=), so that no look
// into the user database is needed.
#pragma once

#include <sys/types.h>
#include <systemd/sd-event.h>

#include <functional>
#include <string>

#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"
#include "agent/base/rooted_path.hpp"
#include "agent/executor/operations.hpp"
#include "agent/varlink/activation.hpp"
#include "agent/varlink/service.hpp"

namespace pvrdma::executor {

// The owner of the socket at that place. EPERM or ELOOP where anybody but root could have put it
// there: whoever can, could choose who is served. ENOTSOCK: something else is there.
[[nodiscard]] Result<uid_t> owner_of(const RootedPath& place);

// The same of the place that a socket is bound to.
[[nodiscard]] Result<uid_t> owner_of(int socket);

class Server {
 public:
  // Called once for each request, after it was carried out or refused, which took so long.
  using Log = std::function<void(const Operation&, const Report&, Milliseconds took)>;
  struct Options {
    uid_t agent_uid = 0;                           // who may call, beside uid 0
    Milliseconds idle = std::chrono::seconds{15};  // without a client, before the loop is ended
  };

  // `event` and `operations` must outlive the server. An operation blocks the loop: one at a time,
  // and a signal is seen when it has ended.
  Server(sd_event* event, Operations& operations, Options options, Log log);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  Server(Server&&) = delete;
  Server& operator=(Server&&) = delete;
  ~Server() = default;

  [[nodiscard]] Result<void> listen_on(Fd socket);

 private:
  void handle(Verb verb, const varlink::CallPtr& call);
  Report run(const Operation& operation, uid_t peer);

  Operations& operations_;
  Options options_;
  Log log_;
  varlink::Service service_;
  varlink::IdleEnd idle_end_;
};

}  // namespace pvrdma::executor
