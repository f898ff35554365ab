#include "agent/base/timer.hpp"

#include <cstdint>

namespace pvrdma {

Result<EventSource> call_after(sd_event* event, clockid_t clock, Milliseconds after,
                               sd_event_time_handler_t callback, void* data) {
  std::uint64_t now = 0;
  sd_event_source* source = nullptr;
  int result = sd_event_now(event, clock, &now);
  const auto later = static_cast<std::uint64_t>(std::chrono::microseconds{after}.count());
  // sd_event_add_time_relative() came with systemd 247; Enterprise Linux 8 has 239.
  if (result >= 0)
    result = sd_event_add_time(event, &source, clock, now + later, 0, callback, data);
  if (result < 0) return fail(-result, "setting", "a timer");
  return EventSource{source};
}

}  // namespace pvrdma
