#include "agent/base/clock.hpp"

#include <array>
#include <cstdint>
#include <ctime>

namespace pvrdma {

BootTime BootClock::now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return BootTime{std::chrono::duration_cast<Milliseconds>(std::chrono::seconds{time.tv_sec} +
                                                           std::chrono::nanoseconds{time.tv_nsec})};
}

std::string in_seconds(Milliseconds time) {
  const std::int64_t hundredths = time.count() / 10;
  const std::string decimals = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + (decimals.size() < 2 ? ".0" : ".") + decimals;
}

std::string wall_time(BootTime time) {
  const auto ago = BootClock::now() - time;
  const std::time_t then =
      std::chrono::system_clock::to_time_t(std::chrono::system_clock::now() - ago);
  std::tm utc{};
  gmtime_r(&then, &utc);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return {text.data(), length};
}

}  // namespace pvrdma
