// SPDX-License-Identifier: GPL-2.0-or-later
// How two sides of `verify PEER` find each other: the addresses, the limits of the waits, and the
// peers that end a wait.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <optional>
#include <thread>

#include "agent/tools/verify/peer/greeting.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tools/verify/free_port.hpp"

namespace pvrdma::verify {

namespace {

int option_of(int fd, int level, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, level, option, &value, &size) == 0 ? value : -1;
}

int port_of(int fd, int (*get)(int, sockaddr*, socklen_t*)) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  const bool known = get(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  return known && address.sin_family == AF_INET ? ntohs(address.sin_port) : -1;
}

}  // namespace

TEST_CASE("a listener takes one peer; another finds no listener during the run or after it") {
  const test::FreePort port;
  std::optional<Result<Control>> served;
  std::jthread listener{
      [&] { served = await_peer("127.0.0.1", port.number, "", test::in_time()); }};
  // Strangers that leave, or send something else, do not count.
  CHECK(Control::connect("127.0.0.1", port.number, test::in_time()));
  auto stranger = Control::connect("127.0.0.1", port.number, test::in_time());
  REQUIRE(stranger);
  CHECK(stranger->send({{"hello", 1}}, test::in_time()));
  auto peer = Control::connect("127.0.0.1", port.number, test::in_time());
  REQUIRE(peer);
  CHECK(greet(*peer, Side::Client, "", test::in_time()));
  listener.join();
  REQUIRE(*served);
  const auto another = Control::connect("127.0.0.1", port.number, BootClock::now());
  REQUIRE_FALSE(another);
  CHECK(another.error().code == ECONNREFUSED);
}

TEST_CASE("a listener on any address is reached over IPv4 and IPv6, and shows each as such") {
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
    const auto served = listener->accept(test::in_time());
    REQUIRE(served);
    CHECK(served->peer() == address);
  }
}

TEST_CASE("a peer that comes late, or is not accepted in time, is not waited for") {
  const test::FreePort port;
  const auto listener = Listener::open("127.0.0.1", port.number, 2);
  REQUIRE(listener);
  REQUIRE(Control::connect("127.0.0.1", port.number, test::in_time()));
  CHECK(listener->accept(BootClock::now()).error().code == ETIMEDOUT);
  CHECK(listener->accept(test::in_time()));
}

TEST_CASE("a link-local address without the name of its link is not tried until the deadline") {
  const BootTime before = BootClock::now();
  const auto peer = Control::connect("fe80::1", 1, before + std::chrono::seconds{3});
  REQUIRE_FALSE(peer);
  CHECK(BootClock::now() - before < std::chrono::seconds{2});
  CHECK(peer.error().message() ==
        "connecting to fe80::1, which needs its link's name: fe80::1%ens224f0");
}

TEST_CASE("both sides notice that the other machine is lost") {
  const test::FreePort port;
  const auto listener = Listener::open("127.0.0.1", port.number, 2);
  REQUIRE(listener);
  const auto client = Control::connect("127.0.0.1", port.number, test::in_time());
  const auto served = listener->accept(test::in_time());
  REQUIRE(client);
  REQUIRE(served);
  int ends = 0;
  for (int fd = 0; fd < 1024; ++fd) {
    const int peers = port_of(fd, ::getpeername);
    if (peers == -1 || (peers != port.number && port_of(fd, ::getsockname) != port.number))
      continue;
    ++ends;
    CHECK(option_of(fd, SOL_SOCKET, SO_KEEPALIVE) == 1);
    CHECK(option_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT) == 30'000);
  }
  CHECK(ends == 2);
}

TEST_CASE("after a wrong token the listener waits on") {
  // Without AF_ALG no token can be checked, and the wait ends with another error.
  const bool has_af_alg = hmac("key", "text").has_value();
  const test::FreePort port;
  std::optional<Result<Control>> served;
  std::jthread listener{
      [&] { served = await_peer("127.0.0.1", port.number, "secret", test::in_time()); }};
  const auto greets = [&](const char* token) {
    auto peer = Control::connect("127.0.0.1", port.number, test::in_time());
    return peer && greet(*peer, Side::Client, token, test::in_time());
  };
  CHECK_FALSE(greets(""));
  if (has_af_alg) CHECK_FALSE(greets("other"));
  auto stranger = Control::connect("127.0.0.1", port.number, test::in_time());
  REQUIRE(stranger);
  CHECK(stranger->send({{"pvrdma_verify", 99}}, test::in_time()));
  CHECK(greets("secret") == has_af_alg);
  listener.join();
  CHECK(served->has_value() == has_af_alg);
  if (!*served) CHECK(served->error().doing == "computing");
}

TEST_CASE("without a token a peer that has one, or speaks another version, ends the wait") {
  const test::FreePort port;
  std::optional<Result<Control>> served;
  std::jthread listener{
      [&] { served = await_peer("127.0.0.1", port.number, "", test::in_time()); }};
  auto stranger = Control::connect("127.0.0.1", port.number, test::in_time());
  REQUIRE(stranger);
  CHECK(stranger->send({{"pvrdma_verify", 99}}, test::in_time()));
  listener.join();
  REQUIRE_FALSE(*served);
  CHECK(served->error().code == EPROTO);
}

}  // namespace pvrdma::verify
