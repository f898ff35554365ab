// How two sides of `verify PEER` find each other: who is reached where, who is waited for how long,
// and who ends the waiting.
#include <cerrno>
#include <optional>
#include <thread>

#include "agent/tools/verify/peer/greeting.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tools/verify/free_port.hpp"

namespace pvrdma::verify {

namespace {

BootTime in_time() { return BootClock::now() + std::chrono::seconds{30}; }

}  // namespace

TEST_CASE("who listens takes one peer; another one finds nobody while that is served, nor later") {
  const test::FreePort port;
  std::optional<Result<Control>> served;
  std::jthread listener{[&] { served = await_peer("127.0.0.1", port.number, "", in_time()); }};
  // Strangers who leave, or speak of something else, do not count.
  CHECK(Control::connect("127.0.0.1", port.number, in_time()));
  auto stranger = Control::connect("127.0.0.1", port.number, in_time());
  REQUIRE(stranger);
  CHECK(stranger->send({{"hello", 1}}, in_time()));
  auto peer = Control::connect("127.0.0.1", port.number, in_time());
  REQUIRE(peer);
  CHECK(greet(*peer, Side::Client, "", in_time()));
  listener.join();
  REQUIRE(*served);
  const auto another = Control::connect("127.0.0.1", port.number, BootClock::now());
  REQUIRE_FALSE(another);
  CHECK(another.error().code == ECONNREFUSED);
}

TEST_CASE("who listens on any address is reached over IPv4 and IPv6, and tells them as they are") {
  const test::FreePort port;
  const auto listener = Listener::open("", port.number, 2);
  REQUIRE(listener);
  for (const char* address : {"127.0.0.1", "::1"}) {
    const auto client = Control::connect(address, port.number, BootClock::now());
    if (!client && client.error().code == EADDRNOTAVAIL) {
      WARN("skipped: this machine has no IPv6");
      continue;
    }
    REQUIRE(client);
    const auto served = listener->accept(in_time());
    REQUIRE(served);
    CHECK(served->peer() == address);
    CHECK(served->own() == address);
  }
}

TEST_CASE("who comes after the time, or has not been taken by then, is not waited for") {
  const test::FreePort port;
  const auto listener = Listener::open("127.0.0.1", port.number, 2);
  REQUIRE(listener);
  REQUIRE(Control::connect("127.0.0.1", port.number, in_time()));
  CHECK(listener->accept(BootClock::now()).error().code == ETIMEDOUT);
  CHECK(listener->accept(in_time()));
}

TEST_CASE("a token is guarded by a listener that goes on waiting") {
  // Without AF_ALG no token can be checked, which ends the waiting with another error.
  const bool has_af_alg = hmac("key", "text").has_value();
  const test::FreePort port;
  std::optional<Result<Control>> served;
  std::jthread listener{
      [&] { served = await_peer("127.0.0.1", port.number, "secret", in_time()); }};
  const auto greets = [&](const char* token) {
    auto peer = Control::connect("127.0.0.1", port.number, in_time());
    return peer && greet(*peer, Side::Client, token, in_time());
  };
  CHECK_FALSE(greets(""));
  if (has_af_alg) CHECK_FALSE(greets("other"));
  auto stranger = Control::connect("127.0.0.1", port.number, in_time());
  REQUIRE(stranger);
  CHECK(stranger->send({{"pvrdma_verify", 99}}, in_time()));
  CHECK(greets("secret") == has_af_alg);
  listener.join();
  CHECK(served->has_value() == has_af_alg);
  if (!*served) CHECK(served->error().doing == "computing");
}

TEST_CASE("without a token a peer that has one, or speaks another version, is an answer") {
  const test::FreePort port;
  std::optional<Result<Control>> served;
  std::jthread listener{[&] { served = await_peer("127.0.0.1", port.number, "", in_time()); }};
  auto stranger = Control::connect("127.0.0.1", port.number, in_time());
  REQUIRE(stranger);
  CHECK(stranger->send({{"pvrdma_verify", 99}}, in_time()));
  listener.join();
  REQUIRE_FALSE(*served);
  CHECK(served->error().code == EPROTO);
}

}  // namespace pvrdma::verify
