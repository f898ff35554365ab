// SPDX-License-Identifier: GPL-2.0-or-later
// One part of a measurement, which both sides carry out at the same time: the client's request in a
// line, and the result.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/tools/verify/peer/connection.hpp"
#include "agent/tools/verify/peer/control.hpp"
#include "agent/tools/verify/peer/figures.hpp"
#include "agent/tools/verify/peer/greeting.hpp"

namespace pvrdma::verify {

enum class Kind {
  Pattern,   // messages of many sizes, each compared with the expected data
  PingPong,  // a message there, and one back
  Stream,    // messages one after the other, as many as the queue holds
  TcpPingPong,
  TcpStream,
  End
};

struct Run {
  Kind kind = Kind::End;
  bool from_client = false, from_listener = false;  // who sends; in a ping-pong both
  std::uint32_t bytes = 0;                          // of a message
  std::uint32_t count = 0;                          // of messages, or of rounds
};

inline constexpr std::uint32_t kCountAtMost = 10'000'000;

[[nodiscard]] Json to_json(const Run& run);
// EBADMSG: the message is no run, or asks for more than is allowed.
[[nodiscard]] Result<Run> run_from(const Json& message);

// The receiver's measurement: the time from its first message to its last, and the number of
// messages after the first.
struct Received {
  Nanoseconds took{0};
  std::uint32_t count = 0;
};

struct Outcome {
  Received here, there;
  std::vector<Nanoseconds> round_trips;  // only the client of a ping-pong has them
};

// An Error: a message does not arrive, or is not the expected one.
[[nodiscard]] Result<Outcome> carry_out(const Run& run, Side side, Control& control,
                                        Connection& connection, BootTime deadline);

}  // namespace pvrdma::verify
