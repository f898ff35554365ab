// SPDX-License-Identifier: GPL-2.0-or-later
// The two clocks of this program, as types that cannot be mixed.
//
// BootClock (CLOCK_BOOTTIME, clock_gettime(2)) orders events and measures waits: it never jumps,
// and it runs on while the VM is suspended. It starts at zero with the boot, so a BootTime in /run
// means the same to every process of this boot. Wall time is only for people to read.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace pvrdma {

struct BootClock {
  using duration = std::chrono::milliseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;
  [[nodiscard]] static time_point now() noexcept;
};

using Milliseconds = std::chrono::milliseconds;
using BootTime = BootClock::time_point;

// Milliseconds since boot, and back: the form for storing and sending a BootTime.
[[nodiscard]] constexpr std::int64_t to_ms(BootTime time) noexcept {
  return time.time_since_epoch().count();
}
[[nodiscard]] constexpr BootTime from_ms(std::int64_t ms) noexcept {
  return BootTime{Milliseconds{ms}};
}

// Seconds with two decimals, not rounded: "12.34".
[[nodiscard]] std::string in_seconds(Milliseconds time);

// The CPU time of this thread in µs (CLOCK_THREAD_CPUTIME_ID).
[[nodiscard]] std::uint64_t cpu_us();

// Waits for `events` of a descriptor (poll(2); -1: only waits for the deadline). 0: an event came;
// ETIMEDOUT: none by the deadline; otherwise errno.
[[nodiscard]] int poll_until(int fd, short events, BootTime deadline);
// The same for several descriptors, each with its own `events` and `revents`.
[[nodiscard]] int poll_until(std::span<pollfd> fds, BootTime deadline);

// Both clocks, read at the same moment, to convert a time from one to the other.
struct Moment {
  BootTime boot;
  Milliseconds wall{0};  // since 1970, UTC
  [[nodiscard]] static Moment now() noexcept;
};

// A BootTime as UTC wall time, RFC 3339 with seconds: "2026-11-21T02:31:43Z".
[[nodiscard]] std::string wall_time(BootTime time, const Moment& now = Moment::now());
// The BootTime of such a text, within half a second; none: the text has another form.
[[nodiscard]] std::optional<BootTime> boot_time_from(const std::string& rfc3339, const Moment& now);

}  // namespace pvrdma
