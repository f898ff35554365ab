// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/varlink/activation.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "agent/base/guarded.hpp"

namespace pvrdma::varlink {

Result<Fd> activated_socket(const std::string& unit) {
  const int count = sd_listen_fds(1);
  if (count < 0) return fail(-count, "taking over", "the sockets of systemd");
  if (count != 1 || sd_is_socket_unix(SD_LISTEN_FDS_START, SOCK_STREAM, 1, nullptr, 0) <= 0)
    return fail(0, "this program is started by systemd: systemctl start " + unit, "");
  return Fd{SD_LISTEN_FDS_START};
}

Result<void> end_on_signals(sd_event* event) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT}) sigaddset(&signals, signal);
  if (sigprocmask(SIG_BLOCK, &signals, nullptr) != 0) return fail(errno, "blocking", "signals");
  for (const int signal : {SIGTERM, SIGINT}) {
    // Without a handler sd-event ends its loop.
    const int result = sd_event_add_signal(event, nullptr, signal, nullptr, nullptr);
    if (result < 0) return fail(-result, "watching", "signals");
  }
  return {};
}

Result<void> IdleEnd::start() {
  // If the timer cannot be set, the program keeps running, which does no harm; the next try may
  // succeed.
  service_.on_idle([this] { static_cast<void>(set_timer()); });
  return set_timer();
}

Result<void> IdleEnd::set_timer() {
  auto timer = call_after(event_, CLOCK_MONOTONIC, after_, on_timer, this);
  if (!timer) return fail(timer.error());
  timer_ = std::move(*timer);
  return {};
}

int IdleEnd::on_timer(sd_event_source* source, std::uint64_t, void* self) {
  return guarded_callback(source, [self] {
    auto& idle = *static_cast<IdleEnd*>(self);
    if (idle.service_.clients() != 0) return 0;
    // A client that connects from here on reaches the socket unit.
    if (!idle.is_busy_ || !idle.is_busy_()) return sd_event_exit(idle.event_, 0);
    static_cast<void>(idle.set_timer());
    return 0;
  });
}

}  // namespace pvrdma::varlink
