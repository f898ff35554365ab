// SPDX-License-Identifier: GPL-2.0-or-later
// For programs that systemd starts when a client connects (systemd.socket(5)), and that end by
// themselves when they have had no client for some time.
#pragma once

#include <systemd/sd-event.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"
#include "agent/base/timer.hpp"
#include "agent/varlink/service.hpp"

namespace pvrdma::varlink {

// The only listening socket that systemd handed over (sd_listen_fds(3)). Where there is none, the
// Error names `unit`, the unit that starts the program.
[[nodiscard]] Result<Fd> activated_socket(const std::string& unit);

// SIGTERM and SIGINT end the loop. They are blocked, so they wait until the current callback has
// ended.
[[nodiscard]] Result<void> end_on_signals(sd_event* event);

// Ends the loop when a service has had no client for some time, also where none ever came, but not
// while `is_busy`. A client that connects after that reaches systemd.
class IdleEnd {
 public:
  // `event` and `service` must outlive it. `is_busy` empty: never.
  IdleEnd(sd_event* event, Service& service, Milliseconds after, std::function<bool()> is_busy = {})
      : event_{event}, service_{service}, after_{after}, is_busy_{std::move(is_busy)} {}
  // Starts the time. Errors: those of sd_event_add_time(3).
  [[nodiscard]] Result<void> start();

 private:
  [[nodiscard]] Result<void> set_timer();
  static int on_timer(sd_event_source* source, std::uint64_t when, void* self);

  sd_event* event_;
  Service& service_;
  Milliseconds after_;
  std::function<bool()> is_busy_;
  EventSource timer_;
};

}  // namespace pvrdma::varlink
