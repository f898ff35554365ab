// SPDX-License-Identifier: GPL-2.0-or-later
// Sources of events of sd-event.
#pragma once

#include <systemd/sd-event.h>
#include <time.h>

#include <cstdint>
#include <string>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"

namespace pvrdma {

// A source of events. When its owner is destroyed, there are no more callbacks.
using EventSource = Handle<sd_event_source, sd_event_source_unref>;

// Calls `callback(…, data)` whenever `fd` has one of `events`. `what` names `fd` where this fails.
[[nodiscard]] inline Result<EventSource> call_on(sd_event* event, int fd, std::uint32_t events,
                                                 sd_event_io_handler_t callback, void* data,
                                                 const std::string& what) {
  sd_event_source* source = nullptr;
  const int result = sd_event_add_io(event, &source, fd, events, callback, data);
  if (result < 0) return fail(-result, "watching", what);
  return EventSource{source};
}

// Calls `callback(…, data)` once, `after` from now, at most 250 ms later (sd-event's accuracy).
// `clock` is CLOCK_BOOTTIME if the time of a suspended machine counts, else CLOCK_MONOTONIC. Fails
// only if memory runs out (sd_event_add_time(3)).
[[nodiscard]] inline Result<EventSource> call_after(sd_event* event, clockid_t clock,
                                                    Milliseconds after,
                                                    sd_event_time_handler_t callback, void* data) {
  std::uint64_t now = 0;
  sd_event_source* source = nullptr;
  int result = sd_event_now(event, clock, &now);
  const auto later = static_cast<std::uint64_t>(std::chrono::microseconds{after}.count());
  // sd_event_add_time_relative() came with systemd 247; Ubuntu 20.04 has 245.
  if (result >= 0)
    result = sd_event_add_time(event, &source, clock, now + later, 0, callback, data);
  if (result < 0) return fail(-result, "setting", "a timer");
  return EventSource{source};
}

}  // namespace pvrdma
