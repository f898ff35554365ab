// SPDX-License-Identifier: GPL-2.0-or-later
// Server: io.pvrdma.Executor on a socket that systemd has bound, for the agent's user and root. The
// agent's user owns that socket (SocketUser= in its unit), so the user database is not needed.
#pragma once

#include <sys/types.h>
#include <systemd/sd-event.h>

#include <functional>

#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"
#include "agent/base/rooted_path.hpp"
#include "agent/executor/operations.hpp"
#include "agent/varlink/activation.hpp"
#include "agent/varlink/service.hpp"

namespace pvrdma::executor {

// The owner of the socket at that place. EPERM or ELOOP where a user other than root could have put
// it there, as that user could choose the owner, and so the clients. ENOTSOCK: the file is not a
// socket.
[[nodiscard]] Result<uid_t> socket_owner(const RootedPath& place);

// The same for the place that a socket is bound to.
[[nodiscard]] Result<uid_t> socket_owner(int socket);

class Server {
 public:
  // Called once for each request, after it was carried out or refused; `took` is its duration.
  using Log = std::function<void(const Operation&, const OperationResult&, Milliseconds took)>;
  struct Options {
    uid_t agent_uid = 0;  // the user who may call, besides uid 0
    // The loop ends after this time without a client, but not while a module is being loaded.
    Milliseconds idle = std::chrono::seconds{15};
  };

  // `event` and `operations` must outlive the server. An operation blocks the loop: operations run
  // one at a time, and a signal takes effect after the operation.
  Server(sd_event* event, Operations& operations, Options options, Log log);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  Server(Server&&) = delete;
  Server& operator=(Server&&) = delete;
  ~Server() = default;

  [[nodiscard]] Result<void> listen_on(Fd socket);

 private:
  void handle(Verb verb, const varlink::CallPtr& call);
  OperationResult run(const Operation& operation, uid_t peer);

  Operations& operations_;
  Options options_;
  Log log_;
  varlink::Service service_;
  varlink::IdleEnd idle_end_;
};

}  // namespace pvrdma::executor
