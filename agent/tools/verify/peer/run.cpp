// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/peer/run.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>

namespace pvrdma::verify {

namespace {

using Clock = std::chrono::steady_clock;

// The index is the number of Kind.
constexpr std::array<std::string_view, 6> kKinds{"pattern",       "ping-pong",  "stream",
                                                 "tcp-ping-pong", "tcp-stream", "end"};
static_assert(kKinds.size() == static_cast<std::size_t>(Kind::End) + 1);

// The sizes of a pattern's messages, in turn; a slot of the memory holds the largest.
constexpr std::array<std::size_t, 5> kPatternBytes{2, 64, 1000, 4096, 65536};
constexpr std::size_t kSlot = 65536;
constexpr std::uint32_t kSlots = kMessageAtMost / kSlot;

// Byte `at` of a pattern's message number `number`.
std::byte pattern_byte(std::uint32_t number, std::size_t at) {
  return static_cast<std::byte>((at * 31 + std::size_t{number} * 17 + (at >> 8U)) & 0xffU);
}

// Messages in one or both directions. The messages of a stream are alike, and in the same place of
// the memory; those of a pattern differ, and each goes to the next slot.
struct Traffic {
  const Run& run;
  Connection& connection;
  std::uint32_t to_send = 0, to_receive = 0;

  [[nodiscard]] bool is_pattern() const { return run.kind == Kind::Pattern; }
  [[nodiscard]] std::size_t size(std::uint32_t number) const {
    return is_pattern() ? kPatternBytes.at(number % kPatternBytes.size()) : run.bytes;
  }
  [[nodiscard]] std::size_t place(std::uint32_t number) const {
    return is_pattern() ? number % kSlots * kSlot : 0;
  }

  [[nodiscard]] Result<void> send(std::uint32_t number) const {
    if (is_pattern())
      for (std::size_t at = 0; at < size(number); ++at)
        connection.out()[place(number) + at] = pattern_byte(number, at);
    return connection.send(place(number), size(number));
  }
  [[nodiscard]] Result<void> receive(std::uint32_t number) const {
    return connection.receive(place(number), is_pattern() ? kSlot : run.bytes);
  }
  // Checks a received message.
  [[nodiscard]] Result<void> check(std::uint32_t number, std::uint32_t bytes) const {
    const bool is_whole = bytes == size(number);
    if (!is_pattern() && !is_whole)
      return fail(EBADMSG, "receiving", "a message: its length is wrong");
    if (!is_pattern()) return {};
    const std::string message = "message " + std::to_string(number) + " of the peer's";
    if (!is_whole)
      return fail(EBADMSG, "comparing",
                  message + ": " + std::to_string(bytes) + " bytes came of " +
                      std::to_string(size(number)));
    const std::byte* in = connection.in() + place(number);
    for (std::size_t at = 0; at < bytes; ++at)
      if (in[at] != pattern_byte(number, at))
        return fail(EBADMSG, "comparing", message + ": byte " + std::to_string(at) + " is wrong");
    return {};
  }
};

// While messages come without pause, no wait ends at the deadline; so the time is checked here.
Result<void> look_at_time(std::uint32_t messages, BootTime deadline) {
  constexpr std::uint32_t kBetweenLooks = 64;
  if (messages % kBetweenLooks != 0 || BootClock::now() < deadline) return {};
  return fail(ETIMEDOUT, "passing", "messages");
}

Result<void> meet(Control& control, BootTime deadline) {
  if (auto sent = control.send({{"ready", true}}, deadline); !sent) return sent;
  const auto came = control.receive_answer(deadline);
  if (!came) return fail(came.error());
  if (!came->contains("ready")) return fail(EBADMSG, "waiting for", "the peer to be ready");
  return {};
}

// Receives are posted before the peer is told that it may send.
Result<void> pass(const Traffic& traffic, Control& control, BootTime deadline, Received& received) {
  const std::uint32_t receives = traffic.is_pattern() ? kSlots : kReceives;
  const std::uint32_t sends = std::min(kSends, receives / 2);
  std::uint32_t listed = 0, posted = 0, sent = 0, came = 0;
  for (; listed < std::min(traffic.to_receive, receives); ++listed)
    if (auto done = traffic.receive(listed); !done) return done;
  if (auto met = meet(control, deadline); !met) return met;
  Clock::time_point first, last;
  while (sent < traffic.to_send || came < traffic.to_receive) {
    for (; posted < traffic.to_send && posted - sent < sends; ++posted)
      if (auto done = traffic.send(posted); !done) return done;
    if (auto in_time = look_at_time(sent + came, deadline); !in_time) return in_time;
    const auto done = traffic.connection.next(control, deadline);
    if (!done) return fail(done.error());
    if (!done->is_receive) {
      ++sent;
      continue;
    }
    last = Clock::now();
    if (came == 0) first = last;
    if (auto good = traffic.check(came, done->bytes); !good) return good;
    ++came;
    if (listed < traffic.to_receive)
      if (auto again = traffic.receive(listed++); !again) return again;
  }
  received = {last - first, came > 0 ? came - 1 : 0};
  return {};
}

// The client sends a message, then the listener, and so on; the next receive is posted before each
// send.
Result<void> ping_pong(const Run& run, Side side, Control& control, Connection& connection,
                       BootTime deadline, std::vector<Nanoseconds>& times) {
  std::uint32_t outstanding = 0, arrived = 0;
  const auto take_one = [&]() -> Result<void> {
    const auto done = connection.next(control, deadline);
    if (!done) return fail(done.error());
    done->is_receive ? ++arrived : --outstanding;
    return {};
  };
  const auto await_message = [&]() -> Result<void> {
    while (arrived == 0)
      if (auto taken = take_one(); !taken) return taken;
    --arrived;
    return {};
  };
  times.reserve(run.count);
  for (std::uint32_t round = 0; round < run.count; ++round) {
    const auto start = Clock::now();
    if (side == Side::Listener)
      if (auto came = await_message(); !came) return came;
    if (round + 1 < run.count)
      if (auto posted = connection.receive(0, run.bytes); !posted) return posted;
    if (auto posted = connection.send(0, run.bytes); !posted) return posted;
    ++outstanding;
    if (side == Side::Client) {
      if (auto came = await_message(); !came) return came;
      times.push_back(Clock::now() - start);
    }
    while (outstanding > kSends / 2)
      if (auto taken = take_one(); !taken) return taken;
  }
  while (outstanding > 0)
    if (auto taken = take_one(); !taken) return taken;
  return {};
}

// The same over TCP, for comparison: on the control connection, between its lines.
Result<void> tcp_ping_pong(const Run& run, Side side, Control& control, BootTime deadline,
                           std::vector<Nanoseconds>& times) {
  std::vector<std::byte> message(run.bytes);
  const auto write = [&] { return control.write(message.data(), message.size(), deadline); };
  const auto read = [&] { return control.read(message.data(), message.size(), deadline); };
  for (std::uint32_t round = 0; round < run.count; ++round) {
    const auto start = Clock::now();
    auto done = side == Side::Client ? write().and_then(read) : read().and_then(write);
    if (!done) return done;
    if (side == Side::Client) times.push_back(Clock::now() - start);
    if (auto in_time = look_at_time(round, deadline); !in_time) return in_time;
  }
  return {};
}

Result<void> tcp_stream(const Run& run, bool sends, Control& control, BootTime deadline,
                        Received& received) {
  std::vector<std::byte> message(run.bytes);
  Clock::time_point first;
  for (std::uint32_t n = 0; n < run.count; ++n) {
    auto done = sends ? control.write(message.data(), message.size(), deadline)
                      : control.read(message.data(), message.size(), deadline);
    if (!done) return done;
    if (n == 0) first = Clock::now();
    if (auto in_time = look_at_time(n, deadline); !in_time) return in_time;
  }
  if (!sends) received = {Clock::now() - first, run.count - 1};
  return {};
}

Result<Received> compare_notes(const Received& here, Control& control, BootTime deadline) {
  if (auto sent = control.send({{"took_ns", here.took.count()}, {"count", here.count}}, deadline);
      !sent)
    return fail(sent.error());
  const auto came = control.receive_answer(deadline);
  if (!came) return fail(came.error());
  const auto took = came->find("took_ns");
  const auto count = came->find("count");
  if (took == came->end() || !took->is_number_integer() || count == came->end() ||
      !count->is_number_unsigned())
    return fail(EBADMSG, "reading", "the peer's figures");
  return Received{Nanoseconds{took->get<std::int64_t>()}, count->get<std::uint32_t>()};
}

}  // namespace

Json to_json(const Run& run) {
  return {{"run", kKinds.at(static_cast<std::size_t>(run.kind))},
          {"from_client", run.from_client},
          {"from_listener", run.from_listener},
          {"bytes", run.bytes},
          {"count", run.count}};
}

Result<Run> run_from(const Json& message) {
  const auto bad = [&](const char* what) {
    return fail(EBADMSG, "reading what the peer asks for:", what);
  };
  const auto* name = std::find(kKinds.begin(), kKinds.end(), text_in(message, "run"));
  if (name == kKinds.end()) return bad("an unknown kind of run");
  const auto kind = static_cast<Kind>(name - kKinds.begin());
  for (const char* key : {"from_client", "from_listener"})
    if (!message.value(key, Json{}).is_boolean()) return bad(key);
  for (const char* key : {"bytes", "count"})
    if (!message.value(key, Json{}).is_number_unsigned()) return bad(key);
  const auto bytes = message["bytes"].get<std::uint64_t>();
  const auto count = message["count"].get<std::uint64_t>();
  if (bytes > kMessageAtMost || count > kCountAtMost) return bad("more than is allowed");
  if (kind != Kind::End && (bytes == 0 || count == 0)) return bad("nothing");
  return Run{kind, message["from_client"].get<bool>(), message["from_listener"].get<bool>(),
             static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(count)};
}

Result<Outcome> carry_out(const Run& run, Side side, Control& control, Connection& connection,
                          BootTime deadline) {
  Outcome outcome;
  const bool sends = side == Side::Client ? run.from_client : run.from_listener;
  const bool receives = side == Side::Client ? run.from_listener : run.from_client;
  Result<void> done;
  if (run.kind == Kind::Pattern || run.kind == Kind::Stream) {
    const Traffic traffic{run, connection, sends ? run.count : 0, receives ? run.count : 0};
    done = pass(traffic, control, deadline, outcome.here);
  } else if (run.kind == Kind::PingPong) {
    done = connection.receive(0, run.bytes)
               .and_then([&] { return meet(control, deadline); })
               .and_then([&] {
                 return ping_pong(run, side, control, connection, deadline, outcome.round_trips);
               });
  } else {
    done = meet(control, deadline).and_then([&] {
      return run.kind == Kind::TcpPingPong
                 ? tcp_ping_pong(run, side, control, deadline, outcome.round_trips)
                 : tcp_stream(run, sends, control, deadline, outcome.here);
    });
  }
  if (!done) return fail(done.error());
  auto there = compare_notes(outcome.here, control, deadline);
  if (!there) return fail(there.error());
  outcome.there = *there;
  return outcome;
}

}  // namespace pvrdma::verify
