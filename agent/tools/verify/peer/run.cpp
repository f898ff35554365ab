#include "agent/tools/verify/peer/run.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "agent/tools/verify/peer/tcp_run.hpp"

namespace pvrdma::verify {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<std::pair<Kind, const char*>, 6> kKinds{{{Kind::Pattern, "pattern"},
                                                              {Kind::PingPong, "ping-pong"},
                                                              {Kind::Stream, "stream"},
                                                              {Kind::TcpPingPong, "tcp-ping-pong"},
                                                              {Kind::TcpStream, "tcp-stream"},
                                                              {Kind::End, "end"}}};

// Messages of a pattern are of these sizes in turn; a slot of the memory holds the largest.
constexpr std::array<std::size_t, 5> kPatternBytes{2, 64, 1000, 4096, 65536};
constexpr std::size_t kSlot = 65536;
constexpr std::uint32_t kSlots = kMessageAtMost / kSlot;

std::size_t pattern_size(std::uint32_t number) {
  return kPatternBytes.at(number % kPatternBytes.size());
}

// Traffic in one or both directions, with what differs between the kinds in two functions.
struct Traffic {
  std::uint32_t to_send = 0, to_receive = 0;
  std::function<Result<void>(std::uint32_t number)> send, receive;  // posts one
  std::function<Result<void>(std::uint32_t number, std::uint32_t bytes)> check;
};

Result<void> post_receives(const Traffic& traffic, std::uint32_t depth) {
  for (std::uint32_t n = 0; n < std::min(traffic.to_receive, depth); ++n)
    if (auto posted = traffic.receive(n); !posted) return posted;
  return {};
}

Result<Received> move(const Traffic& traffic, std::uint32_t receives, std::uint32_t sends,
                      Control& control, Link& link, BootTime deadline) {
  std::uint32_t posted = 0, sent = 0, came = 0;
  std::uint32_t listed = std::min(traffic.to_receive, receives);
  Clock::time_point first, last;
  const auto is_gone = [&] { return control.is_closed(); };
  while (sent < traffic.to_send || came < traffic.to_receive) {
    for (; posted < traffic.to_send && posted - sent < sends; ++posted)
      if (auto done = traffic.send(posted); !done) return fail(done.error());
    const auto done = link.next(deadline, is_gone);
    if (!done) return fail(done.error());
    if (!done->is_receive) {
      ++sent;
      continue;
    }
    last = Clock::now();
    if (came == 0) first = last;
    if (auto good = traffic.check(came, done->bytes); !good) return fail(good.error());
    ++came;
    if (listed < traffic.to_receive) {
      if (auto again = traffic.receive(listed++); !again) return fail(again.error());
    }
  }
  return Received{last - first, came > 0 ? came - 1 : 0};
}

Traffic pattern_of(const Run& run, bool sends, bool receives, Link& link) {
  Traffic traffic;
  traffic.to_send = sends ? run.count : 0;
  traffic.to_receive = receives ? run.count : 0;
  traffic.send = [&link](std::uint32_t n) {
    const std::size_t slot = n % kSlots * kSlot;
    for (std::size_t at = 0; at < pattern_size(n); ++at)
      link.out()[slot + at] = pattern_byte(n, at);
    return link.send(slot, pattern_size(n), n);
  };
  traffic.receive = [&link](std::uint32_t n) { return link.receive(n % kSlots * kSlot, kSlot, n); };
  traffic.check = [&link](std::uint32_t n, std::uint32_t bytes) -> Result<void> {
    const std::string message = "message " + std::to_string(n) + " of the peer's";
    if (bytes != pattern_size(n))
      return fail(EBADMSG, "comparing",
                  message + ": " + std::to_string(bytes) + " bytes came of " +
                      std::to_string(pattern_size(n)));
    const std::byte* in = link.in() + n % kSlots * kSlot;
    for (std::size_t at = 0; at < bytes; ++at)
      if (in[at] != pattern_byte(n, at))
        return fail(EBADMSG, "comparing", message + ": byte " + std::to_string(at) + " of it");
    return {};
  };
  return traffic;
}

Traffic stream_of(const Run& run, bool sends, bool receives, Link& link) {
  Traffic traffic;
  traffic.to_send = sends ? run.count : 0;
  traffic.to_receive = receives ? run.count : 0;
  traffic.send = [&link, bytes = run.bytes](std::uint32_t n) { return link.send(0, bytes, n); };
  traffic.receive = [&link, bytes = run.bytes](std::uint32_t n) {
    return link.receive(0, bytes, n);
  };
  traffic.check = [bytes = run.bytes](std::uint32_t, std::uint32_t came) -> Result<void> {
    if (came != bytes) return fail(EBADMSG, "receiving", "a message: it is not as long as it was");
    return {};
  };
  return traffic;
}

// The client's message, the listener's, and so on; the next receive is posted before each send.
Result<void> ping_pong(const Run& run, Side side, Control& control, Link& link, BootTime deadline,
                       std::vector<Nanoseconds>& times) {
  const auto is_gone = [&] { return control.is_closed(); };
  std::uint32_t outstanding = 0, arrived = 0;
  const auto take_one = [&]() -> Result<void> {
    const auto done = link.next(deadline, is_gone);
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
      if (auto posted = link.receive(0, run.bytes, round); !posted) return posted;
    if (auto posted = link.send(0, run.bytes, round); !posted) return posted;
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

Result<void> meet(Control& control, BootTime deadline) {
  if (auto sent = control.send({{"ready", true}}, deadline); !sent) return sent;
  const auto came = control.receive(deadline);
  if (!came) return fail(came.error());
  if (!came->contains("ready")) return fail(EBADMSG, "waiting for", "the peer to be ready");
  return {};
}

Result<Received> compare_notes(const Received& here, Control& control, BootTime deadline) {
  if (auto sent = control.send({{"took_ns", here.took.count()}, {"count", here.count}}, deadline);
      !sent)
    return fail(sent.error());
  const auto came = control.receive(deadline);
  if (!came) return fail(came.error());
  const auto took = came->find("took_ns");
  const auto count = came->find("count");
  if (took == came->end() || !took->is_number_integer() || count == came->end() ||
      !count->is_number_unsigned())
    return fail(EBADMSG, "reading", "the peer's figures");
  return Received{Nanoseconds{took->get<std::int64_t>()}, count->get<std::uint32_t>()};
}

}  // namespace

std::byte pattern_byte(std::uint32_t number, std::size_t at) {
  return static_cast<std::byte>((at * 31 + std::size_t{number} * 17 + (at >> 8U)) & 0xffU);
}

Json to_json(const Run& run) {
  const auto* kind = std::find_if(kKinds.begin(), kKinds.end(),
                                  [&](const auto& entry) { return entry.first == run.kind; });
  return {{"run", kind->second},
          {"from_client", run.from_client},
          {"from_listener", run.from_listener},
          {"bytes", run.bytes},
          {"count", run.count}};
}

Result<Run> run_from(const Json& message) {
  const auto bad = [&](const char* what) {
    return fail(EBADMSG, "reading what the peer asks for:", what);
  };
  const std::string name =
      message.value("run", Json{}).is_string() ? message["run"].get<std::string>() : "";
  const auto* kind = std::find_if(kKinds.begin(), kKinds.end(),
                                  [&](const auto& entry) { return entry.second == name; });
  if (kind == kKinds.end()) return bad("an unknown kind of run");
  for (const char* key : {"from_client", "from_listener"})
    if (!message.value(key, Json{}).is_boolean()) return bad(key);
  for (const char* key : {"bytes", "count"})
    if (!message.value(key, Json{}).is_number_unsigned()) return bad(key);
  const auto bytes = message["bytes"].get<std::uint64_t>();
  const auto count = message["count"].get<std::uint64_t>();
  if (bytes > kMessageAtMost || count > kCountAtMost) return bad("more than is allowed");
  if (kind->first != Kind::End && (bytes == 0 || count == 0)) return bad("nothing");
  return Run{kind->first, message["from_client"].get<bool>(), message["from_listener"].get<bool>(),
             static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(count)};
}

Result<Outcome> carry_out(const Run& run, Side side, Control& control, Link& link,
                          BootTime deadline) {
  Outcome outcome;
  const bool sends = side == Side::Client ? run.from_client : run.from_listener;
  const bool receives = side == Side::Client ? run.from_listener : run.from_client;
  Result<void> done;
  const auto moved = [&](const Traffic& traffic, std::uint32_t depth) -> Result<void> {
    if (auto posted = post_receives(traffic, depth); !posted) return posted;
    if (auto met = meet(control, deadline); !met) return met;
    auto received = move(traffic, depth, std::min(kSends, depth / 2), control, link, deadline);
    if (!received) return fail(received.error());
    outcome.here = *received;
    return {};
  };
  if (run.kind == Kind::Pattern) {
    done = moved(pattern_of(run, sends, receives, link), kSlots);
  } else if (run.kind == Kind::Stream) {
    done = moved(stream_of(run, sends, receives, link), kReceives);
  } else if (run.kind == Kind::PingPong) {
    done = link.receive(0, run.bytes, 0)
               .and_then([&] { return meet(control, deadline); })
               .and_then([&] {
                 return ping_pong(run, side, control, link, deadline, outcome.round_trips);
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
