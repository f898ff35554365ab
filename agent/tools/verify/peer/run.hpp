// SPDX-License-Identifier: GPL-2.0-or-later
// One part of a measurement, carried out by both sides at the same time: what the client asks for
// in a line, and what comes of it.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/tools/verify/peer/control.hpp"
#include "agent/tools/verify/peer/figures.hpp"
#include "agent/tools/verify/peer/greeting.hpp"
#include "agent/tools/verify/peer/link.hpp"

namespace pvrdma::verify {

enum class Kind {
  Pattern,   // messages of many sizes, each compared with what it must be
  PingPong,  // a message there, and one back
  Stream,    // messages one after the other, as many as the queue holds
  TcpPingPong,
  TcpStream,
  End
};

struct Run {
  Kind kind = Kind::End;
  bool from_client = false, from_listener = false;  // who sends; both do in a ping-pong
  std::uint32_t bytes = 0;                          // of a message
  std::uint32_t count = 0;                          // of messages, or of rounds
};

inline constexpr std::uint32_t kCountAtMost = 10'000'000;

[[nodiscard]] Json to_json(const Run& run);
// EBADMSG: it is none, or asks for more than is allowed.
[[nodiscard]] Result<Run> run_from(const Json& message);

// What one side saw as the receiver: the time from its first message to its last, and how many
// followed the first.
struct Received {
  Nanoseconds took{0};
  std::uint32_t count = 0;
};

struct Outcome {
  Received here, there;
  std::vector<Nanoseconds> round_trips;  // of a ping-pong, at the client
};

// An Error where a message does not arrive, or is another one.
[[nodiscard]] Result<Outcome> carry_out(const Run& run, Side side, Control& control, Link& link,
                                        BootTime deadline);

}  // namespace pvrdma::verify
