// SPDX-License-Identifier: GPL-2.0-or-later
// The control connection of `verify PEER`: greeting, tokens, hostile lines.
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <optional>
#include <thread>

#include "agent/tools/verify/peer/greeting.hpp"
#include "agent/tools/verify/peer/measure.hpp"
#include "agent/tools/verify/peer/run.hpp"
#include "tests/unit/catch.hpp"

namespace pvrdma::verify {

namespace {

BootTime soon() { return BootClock::now() + std::chrono::seconds{10}; }

struct Ends {
  Ends() {
    int fds[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
    client.emplace(Fd{fds[0]});
    listener.emplace(Fd{fds[1]});
    raw = fds[1];
  }
  void say(const std::string& text) const {
    REQUIRE(::send(raw, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  }
  std::optional<Control> client, listener;
  int raw = -1;
};

// The results of a greeting on both sides.
std::pair<Result<void>, Result<void>> greeted(const std::string& of_client,
                                              const std::string& of_listener) {
  Ends ends;
  Result<void> there;
  std::thread other{[&] { there = greet(*ends.listener, Side::Listener, of_listener, soon()); }};
  Result<void> here = greet(*ends.client, Side::Client, of_client, soon());
  other.join();
  return {here, there};
}

bool has_af_alg() { return hmac("key", "text").has_value(); }

}  // namespace

TEST_CASE("HMAC-SHA256, as RFC 4231 has it") {
  const auto digest = hmac("Jefe", "what do ya want for nothing?");
  if (!digest) {
    WARN("skipped: " + digest.error().message());
    return;
  }
  CHECK(*digest == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST_CASE("a token that is too short for FIPS mode is named as the cause") {
  const auto names_it = [](int code, std::size_t bytes) {
    return hmac_error(code, bytes).message().find("needs at least 14 bytes") != std::string::npos;
  };
  CHECK(names_it(EINVAL, 13));
  CHECK_FALSE(names_it(EINVAL, 14));
  CHECK_FALSE(names_it(EAFNOSUPPORT, 13));
}

TEST_CASE("a greeting without tokens") {
  const auto [here, there] = greeted("", "");
  CHECK(here);
  CHECK(there);
}

TEST_CASE("one side alone with a token") {
  const auto [here, there] = greeted("", "secret");
  REQUIRE_FALSE(here);
  CHECK(here.error().message().find("it wants a token") != std::string::npos);
  REQUIRE_FALSE(there);
  CHECK(there.error().message().find("it was given no token") != std::string::npos);
}

TEST_CASE("equal tokens, and different ones") {
  if (!has_af_alg()) {
    WARN("skipped: this kernel has no AF_ALG");
    return;
  }
  const auto [here, there] = greeted("secret", "secret");
  CHECK(here);
  CHECK(there);
  const auto [wrong, refused] = greeted("secret", "other");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == EACCES);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == EACCES);
}

TEST_CASE("a listener proves its token only to a peer that has proved it") {
  if (!has_af_alg()) {
    WARN("skipped: this kernel has no AF_ALG");
    return;
  }
  Ends ends;
  auto greeting = Greeting::begin(Side::Listener, "secret");
  REQUIRE(greeting);
  const Json hello{
      {"pvrdma_verify", kProtocolVersion}, {"nonce", std::string(32, 'a')}, {"token", true}};
  REQUIRE(greeting->take(hello, *ends.listener, soon()));
  CHECK(ends.client->receive(BootClock::now()).error().code == ETIMEDOUT);
  // A peer with another token learns why it is refused, and nothing more.
  CHECK_FALSE(greeting->take({{"proof", "guess"}}, *ends.listener, soon()));
  CHECK_FALSE(greeting->is_over());
  CHECK(ends.client->receive(soon()).value() == Json{{"proof", ""}});
}

TEST_CASE("a different version, or a different program") {
  Ends ends;
  SECTION("version") {
    ends.say("{\"pvrdma_verify\": 2, \"nonce\": \"\", \"token\": false}\n");
    const auto answer = greet(*ends.client, Side::Client, "", soon());
    REQUIRE_FALSE(answer);
    CHECK(answer.error().message().find("version 2 of the protocol, this is version 1") !=
          std::string::npos);
  }
  SECTION("program") {
    ends.say("{\"hello\": 1}\n");
    CHECK_FALSE(greet(*ends.client, Side::Client, "", soon()));
  }
  SECTION("no nonce") {
    ends.say("{\"pvrdma_verify\": 1, \"token\": false}\n");
    CHECK_FALSE(greet(*ends.client, Side::Client, "", soon()));
  }
}

TEST_CASE("hostile lines") {
  Ends ends;
  SECTION("no object") {
    ends.say("[1]\n");
    CHECK(ends.client->receive(soon()).error().code == EBADMSG);
  }
  SECTION("no JSON") {
    ends.say("GET / HTTP/1.0\n");
    CHECK(ends.client->receive(soon()).error().code == EBADMSG);
  }
  SECTION("no end") {
    ends.say(std::string(2 * kLineAtMost, 'x'));
    CHECK(ends.client->receive(soon()).error().code == EMSGSIZE);
  }
  SECTION("nothing") {
    CHECK(ends.client->receive(BootClock::now()).error().code == ETIMEDOUT);
    CHECK(ends.client->check_peer());
  }
  SECTION("the end") {
    ends.listener.reset();
    CHECK(ends.client->check_peer().error().code == ECONNRESET);
    CHECK(ends.client->receive(soon()).error().code == ECONNRESET);
  }
}

TEST_CASE("a failing peer sends the reason before it ends") {
  Ends ends;
  const std::string told =
      "measuring: the peer failed: passing a message: transport \\x1b[2Jretry counter exceeded";
  const auto ends_with_failure = [&] {
    ends.listener->send_failure(
        {0, "passing", "a message: transport \x1b[2Jretry counter exceeded"});
    ends.listener.reset();
  };
  SECTION("while a message of RDMA is waited for") {
    ends_with_failure();
    CHECK(ends.client->check_peer().error().message() == told);
  }
  SECTION("behind unread lines, which stay") {
    ends.say("{\"took_ns\": 1, \"count\": 2}\n");
    CHECK(ends.client->check_peer());
    ends_with_failure();
    CHECK(ends.client->check_peer().error().message() == told);
    CHECK(ends.client->receive(soon()).value() == Json{{"took_ns", 1}, {"count", 2}});
    CHECK(ends.client->receive_answer(soon()).error().message() == told);
  }
  SECTION("a line that is too long is none") {
    ends.say(std::string(2 * kLineAtMost, 'x'));
    CHECK(ends.client->check_peer());
    CHECK(ends.client->receive(soon()).error().code == EMSGSIZE);
  }
}

TEST_CASE("of the errors of a name's addresses that of the other side is told") {
  CHECK(more_telling(0, ENETUNREACH) == ENETUNREACH);
  CHECK(more_telling(ECONNREFUSED, ENETUNREACH) == ECONNREFUSED);
  CHECK(more_telling(ENETUNREACH, ECONNREFUSED) == ECONNREFUSED);
  CHECK(more_telling(ECONNREFUSED, EHOSTUNREACH) == EHOSTUNREACH);
  CHECK(more_telling(ETIMEDOUT, EAFNOSUPPORT) == ETIMEDOUT);
  // `verify mesh` joins where the address is another machine's or is taken.
  CHECK(more_telling(EADDRNOTAVAIL, EAFNOSUPPORT) == EADDRNOTAVAIL);
  CHECK(more_telling(EAFNOSUPPORT, EADDRNOTAVAIL) == EADDRNOTAVAIL);
  CHECK(more_telling(EADDRINUSE, EADDRNOTAVAIL) == EADDRINUSE);
}

TEST_CASE("a listener serves as long as the client means to measure, up to an hour") {
  using namespace std::chrono_literals;
  Ends ends;
  const auto told_by = [&](Milliseconds duration) {
    PairName own{"00", 1, 2, 3};
    own.duration = duration;
    std::thread client{[&] { static_cast<void>(exchange_names(*ends.client, own, soon())); }};
    const auto peer = exchange_names(*ends.listener, {"00", 1, 2, 3}, soon());
    client.join();
    return peer ? peer->duration : Milliseconds{-1};
  };
  CHECK(told_by(10min) == 10min);
  CHECK(told_by(5h) == 1h);
  ends.say(R"({"gid": "00", "qpn": 1, "psn": 2, "mtu": 3})"
           "\n");  // of an earlier version
  CHECK(exchange_names(*ends.client, {"00", 1, 2, 3}, soon())->duration == 0s);
  CHECK(serving_limit(10s, 0s) == 150s);
  CHECK(serving_limit(10s, 10min) == 32min);
  CHECK(serving_limit(2h, 1h) == 362min);
}

TEST_CASE("raw bytes between lines") {
  Ends ends;
  ends.say("{\"a\": 1}\nraw{\"b\": 2}\n");
  CHECK(ends.client->receive(soon()).value() == Json{{"a", 1}});
  std::array<std::byte, 3> raw{};
  REQUIRE(ends.client->read(raw.data(), raw.size(), soon()));
  CHECK(raw[0] == std::byte{'r'});
  CHECK(ends.client->receive(soon()).value() == Json{{"b", 2}});
}

TEST_CASE("the limits of the peer's requests") {
  const Run run{Kind::Stream, true, false, 4096, 100};
  const auto same = run_from(to_json(run));
  REQUIRE(same);
  CHECK(to_json(*same) == to_json(run));
  CHECK(run_from(to_json(Run{})));
  for (const auto& [key, value] :
       std::initializer_list<std::pair<const char*, Json>>{{"run", "format"},
                                                           {"run", 1},
                                                           {"bytes", 0},
                                                           {"bytes", -1},
                                                           {"bytes", kMessageAtMost + 1},
                                                           {"bytes", "1"},
                                                           {"count", 0},
                                                           {"count", kCountAtMost + 1},
                                                           {"count", 1.5},
                                                           {"from_client", 1},
                                                           {"from_listener", nullptr}}) {
    Json bad = to_json(run);
    bad[key] = value;
    INFO(bad.dump());
    CHECK_FALSE(run_from(bad));
  }
}

}  // namespace pvrdma::verify
