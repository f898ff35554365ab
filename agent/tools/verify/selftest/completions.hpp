// SPDX-License-Identifier: GPL-2.0-or-later
// Waits for the completions of the self-test's work until one deadline.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <initializer_list>

#include "agent/tools/verify/selftest/endpoint.hpp"

namespace pvrdma::ctl::selftest {

// Work in progress, at most one of each kind; first and second are the ends of the connection.
enum class Work : std::uint8_t { SendFirst, SendSecond, ReceiveFirst, ReceiveSecond, Next, Write };
inline constexpr std::size_t kWorks = 6;

using Clock = std::chrono::steady_clock;

class Completions {
 public:
  Completions(const Endpoint& endpoint, Clock::time_point deadline)
      : endpoint_(endpoint), deadline_(deadline) {}

  // Waits until each of these has completed: polls for `polling` at most, as programs do that need
  // low latency, then sleeps until the device sends an event. A failure of any work ends the wait.
  [[nodiscard]] Stepped<void> await(std::initializer_list<Work> works,
                                    std::chrono::nanoseconds polling = {});

  // The bytes that a completed receive got.
  [[nodiscard]] std::size_t received(Work work) const {
    return received_.at(static_cast<std::size_t>(work));
  }

 private:
  [[nodiscard]] Stepped<void> drain();
  // False: the deadline passed first.
  [[nodiscard]] Stepped<bool> sleep() const;
  [[nodiscard]] bool take(std::initializer_list<Work> works);

  const Endpoint& endpoint_;
  Clock::time_point deadline_;
  std::array<bool, kWorks> done_{};
  std::array<std::size_t, kWorks> received_{};
};

}  // namespace pvrdma::ctl::selftest
