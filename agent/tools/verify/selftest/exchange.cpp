// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/selftest/exchange.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>

namespace pvrdma::ctl::selftest {

namespace {

// Much longer than a round trip on a working device, so that the latency has no wake-up in it; all
// rounds together poll for 0.2 s at most.
constexpr std::chrono::microseconds kPolling{100};

enum Side : std::size_t { kFirst, kSecond };

ibv_sge piece(const Endpoint& endpoint, Part part, std::size_t bytes) {
  return verify::piece(*endpoint.region, endpoint.at(part), bytes);
}

Stepped<void> post_receive(Endpoint& endpoint, Side side, Work work, Part into) {
  if (const int code =
          verify::post_receive(endpoint.pairs.at(side).get(), static_cast<std::uint64_t>(work),
                               piece(endpoint, into, kMessageBytes)))
    return failure(code, "posting a receive");
  return {};
}

Stepped<void> post_send(Endpoint& endpoint, Side side, Work work, Part from, std::size_t bytes) {
  if (const int code =
          verify::post_send(endpoint.pairs.at(side).get(), static_cast<std::uint64_t>(work),
                            piece(endpoint, from, bytes)))
    return failure(code, "posting a send");
  return {};
}

// Fills Out with data that differs for each seed, and clears the other parts.
void prepare(const Endpoint& endpoint, unsigned seed, std::size_t bytes) {
  std::minstd_rand numbers{seed + 1};
  std::generate_n(endpoint.at(Part::Out), bytes,
                  [&] { return static_cast<std::byte>(numbers() >> 8U); });
  for (const Part part : {Part::In, Part::Back, Part::Target})
    std::memset(endpoint.at(part), 0, bytes);
}

Stepped<void> compare(const Endpoint& endpoint, Part part, std::size_t bytes) {
  const std::byte* sent = endpoint.at(Part::Out);
  const std::byte* came = endpoint.at(part);
  const auto at = std::mismatch(sent, sent + bytes, came).first - sent;
  if (static_cast<std::size_t>(at) == bytes) return {};
  return failure(EBADMSG, "byte " + std::to_string(at) + " of " + std::to_string(bytes) +
                              " is not what was sent");
}

Stepped<void> expect_bytes(const Completions& completions, Work work, std::size_t bytes) {
  const std::size_t came = completions.received(work);
  if (came == bytes) return {};
  return failure(EMSGSIZE, std::to_string(came) + " bytes came of " + std::to_string(bytes));
}

// Sends one message from the first end to the second, which sends it back. Returns the time until
// the message is back.
Stepped<Nanoseconds> round_trip(Endpoint& endpoint, Completions& completions, std::size_t bytes,
                                Nanoseconds polling) {
  Clock::time_point start, end;
  return post_receive(endpoint, kSecond, Work::ReceiveSecond, Part::In)
      .and_then([&] { return post_receive(endpoint, kFirst, Work::ReceiveFirst, Part::Back); })
      .and_then([&] {
        start = Clock::now();
        return post_send(endpoint, kFirst, Work::SendFirst, Part::Out, bytes);
      })
      .and_then([&] { return completions.await({Work::ReceiveSecond}, polling); })
      .and_then([&] { return expect_bytes(completions, Work::ReceiveSecond, bytes); })
      .and_then([&] { return post_send(endpoint, kSecond, Work::SendSecond, Part::In, bytes); })
      .and_then([&] { return completions.await({Work::ReceiveFirst}, polling); })
      .and_then([&] {
        end = Clock::now();
        return expect_bytes(completions, Work::ReceiveFirst, bytes);
      })
      .and_then([&] {
        return completions.await({Work::SendFirst, Work::SendSecond}, polling);
      })
      .and_then([&] { return compare(endpoint, Part::In, bytes); })
      .and_then([&] { return compare(endpoint, Part::Back, bytes); })
      .map([&] { return Nanoseconds{end - start}; });
}

// The statuses by which a device, or its peer, says that it does not know an operation. Other
// statuses (a transport that fails, access that is denied) mean that it knows the operation and
// failed.
bool refuses_operation(int status) {
  return status == IBV_WC_LOC_QP_OP_ERR || status == IBV_WC_REM_INV_REQ_ERR ||
         status == IBV_WC_REM_OP_ERR;
}

// Posts the write from Out to Target. Returns posting's errno; 0: posted.
int post_write(const Endpoint& endpoint) {
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(endpoint.at(Part::Target));
  request.wr.rdma.rkey = endpoint.region->rkey;
  return verify::post(endpoint.pairs.at(kFirst).get(), request,
                      static_cast<std::uint64_t>(Work::Write),
                      piece(endpoint, Part::Out, kMessageBytes));
}

}  // namespace

Stepped<void> exchange_message(Endpoint& endpoint, Completions& completions) {
  prepare(endpoint, 0, kMessageBytes);
  return round_trip(endpoint, completions, kMessageBytes, {}).map([](Nanoseconds) {});
}

Stepped<std::vector<Nanoseconds>> exchange_rounds(Endpoint& endpoint, Completions& completions) {
  std::vector<Nanoseconds> times;
  for (unsigned round = 1; round <= kRounds; ++round) {
    prepare(endpoint, round, kRoundBytes);
    const auto took = round_trip(endpoint, completions, kRoundBytes, kPolling);
    if (!took) {
      Failure why = took.error();
      why.what = "round " + std::to_string(round) + ": " + why.what;
      return tl::unexpected<Failure>(std::move(why));
    }
    times.push_back(*took);
  }
  return times;
}

// A send follows the write. When the send has arrived, the write has arrived too (InfiniBand
// specification, volume 1, 9.5). A device that carries out a write as a send (QEMU's) uses up the
// send's receive; that receive then has as many bytes as were written.
Stepped<std::optional<std::string>> write_remotely(Endpoint& endpoint, Completions& completions) {
  prepare(endpoint, kRounds + 1, kMessageBytes);
  auto posted = post_receive(endpoint, kSecond, Work::ReceiveSecond, Part::In).and_then([&] {
    return post_receive(endpoint, kSecond, Work::Next, Part::Back);
  });
  if (!posted) return tl::unexpected<Failure>(posted.error());
  if (const int refused = post_write(endpoint))
    return "it refuses a write: " + std::string{std::strerror(refused)};
  const auto written = completions.await({Work::Write});
  if (!written && refuses_operation(written.error().status)) return written.error().what;
  bool as_send = false;
  return written
      .and_then(
          [&] { return post_send(endpoint, kFirst, Work::SendFirst, Part::Out, kRoundBytes); })
      .and_then([&] {
        return completions.await({Work::ReceiveSecond, Work::SendFirst});
      })
      .and_then([&]() -> Stepped<void> {
        as_send = completions.received(Work::ReceiveSecond) == kMessageBytes;
        return as_send ? completions.await({Work::Next})
                       : compare(endpoint, Part::Target, kMessageBytes);
      })
      .map([&]() -> std::optional<std::string> {
        if (as_send) return "it carries out a send instead";
        return std::nullopt;
      });
}

}  // namespace pvrdma::ctl::selftest
