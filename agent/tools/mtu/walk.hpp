// SPDX-License-Identifier: GPL-2.0-or-later
// One host's measurement under way: its search, its socket and its clock.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/tools/mtu/echo_socket.hpp"
#include "agent/tools/mtu/measurement.hpp"
#include "agent/tools/mtu/search.hpp"

namespace pvrdma::ctl::pmtu {

// How long to wait for the answer to a probe. Pure.
class Pace {
 public:
  // An answer took this long.
  void sample(Milliseconds round_trip) { slowest_ = std::max(slowest_, round_trip); }

  // For the `attempt`th probe of one size, from 1. Each waits twice as long as the one before, up
  // to a second: what is lost in one burst shall not decide. An answer that comes later still
  // counts, so too short a time costs probes and nothing else.
  [[nodiscard]] Milliseconds wait(unsigned attempt) const {
    if (slowest_ < Milliseconds{0}) return kWithoutSample;
    // Larger packets and busier moments take longer than what was seen so far.
    const Milliseconds first = std::clamp(2 * slowest_ + kSlack, kShortest, kLongest);
    const Milliseconds grown = first * (1U << std::min(attempt - 1, 8U));
    return std::min(grown, std::max(first, kWithoutSample));
  }

 private:
  static constexpr Milliseconds kWithoutSample{1000};  // RFC 6298
  static constexpr Milliseconds kShortest{200};
  static constexpr Milliseconds kLongest{3000};
  static constexpr Milliseconds kSlack{100};

  Milliseconds slowest_{-1};
};

class Walk {
 public:
  // `interface`: the only one to measure from; empty: where the route goes.
  Walk(std::string host, std::string interface);

  // The name was resolved: sends the first probe to the first address that can be reached.
  void begin(const Addresses& addresses, BootTime now);
  // The socket has something, or the time of a probe is over: takes notice, sends what is next.
  void go_on(BootTime now);
  // Ends it with what is known; why, where nothing is. `after` is the whole time it had.
  void give_up(BootTime now, Milliseconds after);

  [[nodiscard]] bool done() const { return seen_.done; }
  // -1 before begin() and after the end.
  [[nodiscard]] int fd() const { return socket_ && !done() ? socket_->fd() : -1; }
  // When go_on() wants to be called though nothing came; none: not before something comes.
  [[nodiscard]] std::optional<BootTime> deadline() const;
  [[nodiscard]] const Measurement& seen() const { return seen_; }

 private:
  struct Sent {
    unsigned size = 0;
    BootTime at;
  };

  void note(const Answered& event, BootTime now);
  void note(const TooBig& event, BootTime now);
  void note(const Unreachable& event, BootTime now);
  void send(BootTime now);
  void end(BootTime now);

  Measurement seen_;
  std::string bound_to_;
  BootTime started_;
  std::optional<EchoSocket> socket_;
  std::optional<Search> search_;
  Pace pace_;
  std::vector<Sent> sent_;  // by sequence number, from 1
  BootTime answer_by_;
};

}  // namespace pvrdma::ctl::pmtu
