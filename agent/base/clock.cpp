// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/base/clock.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <ctime>

#include "agent/base/format.hpp"

namespace pvrdma {

BootTime BootClock::now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return BootTime{std::chrono::duration_cast<Milliseconds>(std::chrono::seconds{time.tv_sec} +
                                                           std::chrono::nanoseconds{time.tv_nsec})};
}

std::string in_seconds(Milliseconds time) {
  const std::int64_t hundredths = time.count() / 10;
  return formatted("{}.{:02}", hundredths / 100, hundredths % 100);
}

std::uint64_t cpu_us() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec) / 1'000U;
}

int poll_until(int fd, short events, BootTime deadline) {
  pollfd waited{fd, events, 0};
  return poll_until({&waited, 1}, deadline);
}

int poll_until(std::span<pollfd> fds, BootTime deadline) {
  for (;;) {
    const Milliseconds::rep left = (deadline - BootClock::now()).count();
    const int ready = ::poll(fds.data(), fds.size(),
                             static_cast<int>(std::clamp<Milliseconds::rep>(left, 0, INT_MAX)));
    if (ready > 0) return 0;
    if (ready == 0) return ETIMEDOUT;
    if (errno != EINTR) return errno;
  }
}

Moment Moment::now() noexcept {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return {BootClock::now(), std::chrono::duration_cast<Milliseconds>(wall)};
}

std::string wall_time(BootTime time, const Moment& now) {
  const auto wall = std::chrono::floor<std::chrono::seconds>(now.wall - (now.boot - time));
  const auto then = static_cast<std::time_t>(wall.count());
  std::tm utc{};
  gmtime_r(&then, &utc);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return {text.data(), length};
}

std::optional<BootTime> boot_time_from(const std::string& rfc3339, const Moment& now) {
  // The middle of the text's second, so that wall_time() yields the same text again.
  constexpr Milliseconds kHalf{500};
  std::tm utc{};
  const char* end = strptime(rfc3339.c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return now.boot - (now.wall - (std::chrono::seconds{timegm(&utc)} + kHalf));
}

}  // namespace pvrdma
