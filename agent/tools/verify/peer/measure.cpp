// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/peer/measure.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace pvrdma::verify {

namespace {

// Extra time for a part beyond its planned time: after it, a peer that stands still ends the part.
constexpr Milliseconds kPatience{15'000};

constexpr std::uint32_t kPatternMessages = 40;
constexpr std::uint32_t kFirstRounds = 5;    // of a warm-up: they tell how long a round takes
constexpr std::uint32_t kWarmUpRounds = 45;  // after these, at most
constexpr std::uint32_t kFirstMessages = 8;  // of a stream: they tell how fast it is
constexpr std::array<std::uint32_t, 6> kLatencyBytes{2, 64, 1024, 4096, 16384, 65536};
constexpr std::uint32_t kSmallBytes = 64;
constexpr std::uint32_t kTcpBytes = 65536;

// Hundredths of the duration: six latencies with 4 each, four streams with 12 each, TCP's latency
// and its streams with 8 each.
constexpr int kLatencyShare = 4, kStreamShare = 12, kTcpShare = 8, kTcpStreams = 2;

double us(Nanoseconds time) { return static_cast<double>(time.count()) / 1000; }

Json to_json(const LatencyFigures& figures) {
  return {{"message_bytes", figures.message_bytes},
          {"rounds", figures.rounds},
          {"min_us", us(figures.min)},
          {"typical_us", us(figures.typical)},
          {"average_us", us(figures.average)},
          {"p99_us", us(figures.p99)},
          {"p999_us", us(figures.p999)}};
}

class Client {
 public:
  Client(Control& control, Connection& connection, Milliseconds duration)
      : control_(control), connection_(connection), duration_(duration) {}

  Result<Outcome> ask(const Run& run, Nanoseconds meant = {}) {
    const BootTime deadline =
        BootClock::now() + kPatience + std::chrono::ceil<Milliseconds>(2 * meant);
    const Json asked = verify::to_json(run);
    if (auto sent = control_.send(asked, deadline); !sent) return fail(sent.error());
    auto outcome = carry_out(run, Side::Client, control_, connection_, deadline);
    if (!outcome)
      outcome.error().what += ", in a " + asked["run"].get<std::string>() + " of " +
                              std::to_string(run.count) + " times " + std::to_string(run.bytes) +
                              " bytes";
    return outcome;
  }

  // Measures batch after batch until the median is stable, or the time is over.
  Result<LatencyFigures> latency(Kind kind, std::uint32_t bytes, int share) {
    const Nanoseconds slice = share_of(share);
    const auto warm = warm_up(kind, bytes, slice);
    if (!warm) return fail(warm.error());
    Nanoseconds round = *warm;
    std::vector<Nanoseconds> all, medians;
    const BootTime end = BootClock::now() + std::chrono::ceil<Milliseconds>(slice);
    do {
      const auto rounds = static_cast<std::uint32_t>(rounds_within(slice / 5, round));
      const auto batch = ask({kind, true, true, bytes, rounds}, slice);
      if (!batch) return fail(batch.error());
      round = median_of(batch->round_trips);
      medians.push_back(round);
      all.insert(all.end(), batch->round_trips.begin(), batch->round_trips.end());
    } while (!is_stable(medians) && BootClock::now() < end);
    return latency_figures(bytes, std::move(all)).value_or(LatencyFigures{});
  }

  // Messages per second, counted by the receiver; both ways: the sum of both, over the longer of
  // the two times. Runs grow until one takes long enough: in a short run all messages may arrive at
  // once.
  Result<double> messages_per_s(Kind kind, bool out, bool in, std::uint32_t bytes, int share) {
    constexpr double kGrowthAtMost = 8;
    Run run{kind, out, in, bytes, kFirstMessages};
    const std::chrono::duration<double> slice = share_of(share);
    while (true) {
      const auto start = std::chrono::steady_clock::now();
      const auto outcome = ask(run, share_of(share));
      if (!outcome) return fail(outcome.error());
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      if (took >= slice / 2 || run.count >= kCountAtMost) return rate(*outcome);
      const double growth = std::clamp(slice / took, 2.0, kGrowthAtMost);
      run.count = static_cast<std::uint32_t>(
          std::min(run.count * growth, static_cast<double>(kCountAtMost)));
    }
  }

 private:
  // Runs rounds that do not count, fewer where a round takes long; returns the time of a round at
  // the end.
  Result<Nanoseconds> warm_up(Kind kind, std::uint32_t bytes, Nanoseconds slice) {
    const auto rounds_of = [&](std::uint32_t count) {
      return ask({kind, true, true, bytes, count}, slice).map([](const Outcome& outcome) {
        return std::max(median_of(outcome.round_trips), Nanoseconds{1});
      });
    };
    auto round = rounds_of(kFirstRounds);
    if (!round) return round;
    const auto more = std::min<Nanoseconds::rep>(slice / 5 / *round, kWarmUpRounds);
    return more > 0 ? rounds_of(static_cast<std::uint32_t>(more)) : round;
  }

  [[nodiscard]] Nanoseconds share_of(int share) const {
    return Nanoseconds{duration_} * share / 100;
  }

  static Nanoseconds median_of(const std::vector<Nanoseconds>& round_trips) {
    const auto figures = latency_figures(0, round_trips);
    return figures ? 2 * figures->typical : Nanoseconds{1};
  }

  static double rate(const Outcome& outcome) {
    const std::chrono::duration<double> took = std::max(outcome.here.took, outcome.there.took);
    return took.count() > 0 ? (outcome.here.count + outcome.there.count) / took.count() : 0;
  }

  Control& control_;
  Connection& connection_;
  Milliseconds duration_;
};

Result<PairName> pair_name_from(const Json& message) {
  for (const char* key : {"qpn", "psn", "mtu"})
    if (!message.value(key, Json{}).is_number_unsigned())
      return fail(EBADMSG, "reading", "the peer's queue pair");
  const std::string gid = text_in(message, "gid");
  if (gid.empty()) return fail(EBADMSG, "reading", "the peer's GID");
  // A peer of an earlier version tells no MAC address and no duration.
  const Json duration = message.value("duration_ms", Json{});
  const std::uint64_t told_ms = duration.is_number_unsigned() ? duration.get<std::uint64_t>() : 0;
  const auto at_most = static_cast<std::uint64_t>(kDurationAtMost.count());
  return PairName{gid,
                  message["qpn"].get<std::uint32_t>(),
                  message["psn"].get<std::uint32_t>(),
                  message["mtu"].get<int>(),
                  text_in(message, "mac"),
                  Milliseconds{std::min(told_ms, at_most)}};
}

Result<Json> bandwidths(Client& client, const Progress& progress) {
  Json figures{{"message_bytes", kMessageAtMost}};
  const struct {
    const char* name;
    bool out, in;
  } ways[] = {{"out_mb_s", true, false}, {"in_mb_s", false, true}, {"both_mb_s", true, true}};
  for (const auto& way : ways) {
    progress(std::string{"bandwidth, "} + way.name);
    const auto rate =
        client.messages_per_s(Kind::Stream, way.out, way.in, kMessageAtMost, kStreamShare);
    if (!rate) return fail(rate.error());
    figures[way.name] = *rate * kMessageAtMost / 1e6;
  }
  return figures;
}

Result<Json> tcp(Client& client, const Progress& progress) {
  progress("TCP");
  const auto latency = client.latency(Kind::TcpPingPong, kLatencyBytes.front(), kTcpShare);
  if (!latency) return fail(latency.error());
  // One lost packet stops TCP for at least 200 ms (Linux include/net/tcp.h, TCP_RTO_MIN), which may
  // be the whole stream; so the best of several streams counts.
  double best = 0;
  for (int stream = 0; stream < kTcpStreams; ++stream) {
    const auto rate = client.messages_per_s(Kind::TcpStream, true, false, kTcpBytes, kTcpShare);
    if (!rate) return fail(rate.error());
    best = std::max(best, *rate);
  }
  return Json{{"latency_us", us(latency->typical)}, {"bandwidth_mb_s", best * kTcpBytes / 1e6}};
}

}  // namespace

Result<Json> measure(Control& control, Connection& connection, Milliseconds duration,
                     const Progress& progress) {
  Client client{control, connection, duration};
  Json found;
  progress("comparing data");
  if (const auto whole = client.ask({Kind::Pattern, true, true, 65536, kPatternMessages}); !whole)
    return fail(whole.error());
  found["data_whole"] = true;
  for (const std::uint32_t bytes : kLatencyBytes) {
    progress("latency of " + std::to_string(bytes) + " bytes");
    const auto figures = client.latency(Kind::PingPong, bytes, kLatencyShare);
    if (!figures) return fail(figures.error());
    found["latency"].push_back(to_json(*figures));
  }
  auto streams = bandwidths(client, progress);
  if (!streams) return fail(streams.error());
  found["bandwidth"] = std::move(*streams);
  progress("message rate");
  const auto rate = client.messages_per_s(Kind::Stream, true, false, kSmallBytes, kStreamShare);
  if (!rate) return fail(rate.error());
  found["messages_per_s"] = *rate;
  auto beside = tcp(client, progress);
  if (!beside) return fail(beside.error());
  found["tcp"] = std::move(*beside);
  Json end = verify::to_json(Run{});
  end["figures"] = found;
  if (auto sent = control.send(end, BootClock::now() + kPatience); !sent) return fail(sent.error());
  return found;
}

Milliseconds serving_limit(Milliseconds own, Milliseconds told) {
  return std::chrono::minutes{2} + 3 * std::max(own, told);
}

Result<Json> serve(Control& control, Connection& connection, BootTime deadline) {
  for (unsigned parts = 0;; ++parts) {
    const auto message = control.receive_answer(deadline);
    if (!message) return fail(message.error());
    const auto run = run_from(*message);
    if (!run) return fail(run.error());
    if (run->kind == Kind::End)
      return Json{{"parts", parts}, {"figures", message->value("figures", Json{})}};
    const auto done = carry_out(*run, Side::Listener, control, connection, deadline);
    if (!done) return fail(done.error());
  }
}

Result<PairName> exchange_names(Control& control, const PairName& own, BootTime deadline) {
  const Json name{{"gid", own.gid}, {"qpn", own.qpn}, {"psn", own.psn},
                  {"mtu", own.mtu}, {"mac", own.mac}, {"duration_ms", own.duration.count()}};
  if (auto sent = control.send(name, deadline); !sent) return fail(sent.error());
  return control.receive_answer(deadline).and_then(pair_name_from);
}

}  // namespace pvrdma::verify
