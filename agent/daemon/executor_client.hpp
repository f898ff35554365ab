// SPDX-License-Identifier: GPL-2.0-or-later
// The daemon's client of the executor: each call becomes an event when it has ended.
#pragma once

#include <systemd/sd-event.h>

#include <functional>
#include <string>

#include "agent/model/event.hpp"
#include "agent/varlink/client.hpp"

namespace pvrdma {

class ExecutorClient {
 public:
  using Post = std::function<void(Event)>;

  // `event` must outlive the client.
  ExecutorClient(sd_event* event, std::string socket, Post post);

  // Starts the call and never waits. CallEnded or ExecutorUnreachable follows from the loop; no
  // other call may be made before.
  void call(const Operation& operation);

 private:
  varlink::AsyncClient client_;
  Post post_;
};

}  // namespace pvrdma
