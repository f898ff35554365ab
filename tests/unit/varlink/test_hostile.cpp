// SPDX-License-Identifier: GPL-2.0-or-later
// Clients that flood, stall, lie or vanish: they are cut off, and other clients do not notice.
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "tests/unit/catch.hpp"
#include "tests/unit/logged.hpp"
#include "tests/unit/varlink/service_fixture.hpp"

using namespace pvrdma;
using namespace pvrdma::test;
using namespace std::chrono_literals;

TEST_CASE("a client that sends something else than a call is cut off") {
  ServiceFixture fixture;
  const std::string cases[] = {
      "",
      "GET / HTTP/1.1",
      "[]",
      "1",
      "null",
      "{",
      "{}",
      R"({"method":1})",
      R"({"method":""})",
      R"({"method":null})",
      R"({"method":"a.b","parameters":[]})",
      R"({"method":"a.b","parameters":"x"})",
      R"({"method":"a.b","more":1})",
      R"({"method":"a.b","more":true,"oneway":true})",
      "{\"method\":\"a.\xff\xfe\"}",
      "{\"method\":\"a.\xc3\"}",
      R"({"method":"a.\ud800"})",
      R"({"method":"a.b","parameters":{"x":1e999999}})",
      std::string(16'000, '['),
      R"({"method":"a.b","parameters":)" + std::string(8'000, '[') + std::string(8'000, ']') + "}",
      std::string(16385, ' '),
      R"({"method":"a.b"} trailing)",
  };
  for (const std::string& text : cases) {
    CAPTURE(text.substr(0, 80));
    auto client = fixture.client();
    CHECK(client.call(text));
    CHECK(client.is_cut_off());
    auto other = fixture.client();
    CHECK(other.ask(kHello) == kHelloReply);
  }
}

TEST_CASE("a mebibyte of opening brackets is cut off before it has all been read") {
  ServiceFixture fixture;
  auto client = fixture.client();
  const std::string deep = R"({"method":"a.b","parameters":)" + std::string(1U << 20U, '[');
  CHECK_FALSE(client.send(deep));
  CHECK(client.is_cut_off());
  auto other = fixture.client();
  CHECK(other.ask(kHello) == kHelloReply);
}

TEST_CASE("a handler that throws costs only its client the connection") {
  ServiceFixture fixture;
  auto client = fixture.client();
  auto other = fixture.client();
  CHECK(client.call(request("Throw")));
  CHECK(client.is_cut_off());
  CHECK(other.ask(kHello) == kHelloReply);
}

TEST_CASE("a request of exactly the limit is taken, one of a byte more is not") {
  ServiceFixture fixture;
  const std::size_t rest = request("Echo", R"({"text":""})").size();
  const auto sized = [&](std::size_t bytes) {
    return request("Echo", R"({"text":")" + std::string(bytes - rest, 'x') + "\"}");
  };
  auto client = fixture.client();
  CHECK(client.ask(sized(16384)));
  CHECK(client.call(sized(16385)));
  CHECK(client.is_cut_off());
}

TEST_CASE("a long name in a request does not make a long reply") {
  ServiceFixture fixture;
  auto client = fixture.client();
  const std::string name(16'000, '\x7f');  // JSON in ASCII takes six bytes for each
  const std::string requests[] = {
      "{\"method\":\"" + name + "\"}", "{\"method\":\"org.example.Test." + name + "\"}",
      request("Echo", R"({"text":"a",")" + name + "\":1}"),
      R"({"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":")" +
          name + "\"}}"};
  for (const std::string& text : requests) {
    CAPTURE(text.substr(0, 80));
    const auto reply = client.ask(text);
    REQUIRE(reply);
    CHECK(reply->find("\"error\"") != std::string::npos);
    CHECK(reply->size() < 2048);
  }
}

TEST_CASE("half a message, then silence") {
  varlink::Limits limits;
  limits.half_message = 80ms;
  ServiceFixture fixture{limits};
  auto stalled = fixture.client();
  auto dripping = fixture.client();
  auto idle = fixture.client();
  REQUIRE(stalled.send("{\"method\""));
  const auto start = std::chrono::steady_clock::now();
  // A byte now and then does not extend the time.
  const bool cut = fixture.loop.run_until([&] {
    static_cast<void>(dripping.send_some(" "));
    return fixture.service.clients() == 1;
  });
  CHECK(cut);
  CHECK(std::chrono::steady_clock::now() - start > 70ms);
  CHECK(std::chrono::steady_clock::now() - start < 2s);
  CHECK(stalled.is_cut_off());
  CHECK(dripping.is_cut_off());
  CHECK(idle.ask(kHello) == kHelloReply);
}

TEST_CASE("messages sent in halves do not count as an unfinished message") {
  varlink::Limits limits;
  limits.half_message = 1s;
  ServiceFixture fixture{limits};
  auto client = fixture.client();
  const std::string message = kHello + '\0';
  const std::string second_half_and_first = message.substr(10) + message.substr(0, 10);
  REQUIRE(client.send(message.substr(0, 10)));
  const auto end = std::chrono::steady_clock::now() + 2s;
  while (std::chrono::steady_clock::now() < end) {
    fixture.loop.run_until([] { return false; }, 200ms);
    REQUIRE(client.send(second_half_and_first));
    REQUIRE(client.receive() == kHelloReply);
  }
}

TEST_CASE("idle clients are cut off, watching and waiting ones stay") {
  varlink::Limits limits;
  limits.idle = 80ms;
  ServiceFixture fixture{limits};
  auto idle = fixture.client();
  auto watching = fixture.client();
  auto waiting = fixture.client();
  REQUIRE(watching.call(request("Watch", "{}", R"(,"more":true)")));
  REQUIRE(waiting.call(request("Later")));
  CHECK(idle.is_cut_off());
  fixture.loop.run_until([] { return false; }, 200ms);
  CHECK(fixture.service.clients() == 2);
  REQUIRE(fixture.kept.size() == 2);
  fixture.kept.at(0)->reply_text(R"({"n":1})", true);
  CHECK(watching.receive());
  fixture.kept.clear();
  CHECK(waiting.is_cut_off());
  CHECK(watching.is_cut_off());
}

TEST_CASE("a flood of requests, none of whose replies is read") {
  varlink::Limits limits;
  limits.idle = 300ms;
  ServiceFixture fixture{limits};
  auto flood = fixture.client();
  auto other = fixture.client();
  std::string requests;
  for (int i = 0; i < 200; ++i) requests += request("Big", R"({"bytes":50000})") + '\0';
  for (int round = 0; round < 100; ++round) {
    static_cast<void>(flood.send_some(requests));
    const auto start = std::chrono::steady_clock::now();
    REQUIRE(other.ask(kHello) == kHelloReply);
    REQUIRE(std::chrono::steady_clock::now() - start < 1s);
  }
  // Unread replies lie in the kernel's memory for the service.
  int unread_bytes = 0;
  REQUIRE(::ioctl(flood.fd(), FIONREAD, &unread_bytes) == 0);
  CHECK(unread_bytes > 0);
  CHECK(unread_bytes <= 32 << 10);
  // The client is cut off in the end, because nothing moves any more.
  CHECK(fixture.loop.run_until([&] { return fixture.service.clients() < 2; }));
}

TEST_CASE("a flood behind a request that takes its time is not read") {
  ServiceFixture fixture;
  auto flood = fixture.client();
  std::string requests = request("Later") + '\0';
  for (int i = 0; i < 1000; ++i) requests += kHello + '\0';
  std::size_t taken = 0;
  for (int round = 0; round < 2000; ++round) {
    taken += flood.send_some(requests);
    sd_event_run(fixture.loop.get(), 0);
  }
  CHECK(fixture.service.clients() == 1);
  CHECK(taken < (4U << 20U));  // the sockets' buffers, and one read
}

TEST_CASE("a patient client gets all its replies, however many it asked for at once") {
  ServiceFixture fixture;
  auto client = fixture.client();
  std::string requests;
  for (int i = 0; i < 300; ++i) requests += request("Big", R"({"bytes":20000})") + '\0';
  REQUIRE(client.send(requests));
  // The service does as much as it will before the first reply is read.
  fixture.loop.run_until([] { return false; }, 100ms);
  for (int i = 0; i < 300; ++i) REQUIRE(client.receive().value_or("").size() > 20000);
}

TEST_CASE("a watch that is never read is cut off at the output limit") {
  ServiceFixture fixture;
  auto deaf = fixture.client();
  auto other = fixture.client();
  REQUIRE(deaf.call(request("Watch", "{}", R"(,"more":true)")));
  REQUIRE(fixture.loop.run_until([&] { return fixture.kept.size() == 1; }));
  const std::string text = R"({"n":1,"filler":")" + std::string(20'000, 'x') + "\"}";
  std::size_t sent = 0;
  while (!fixture.kept.at(0)->gone() && sent < (64U << 20U)) {
    fixture.kept.at(0)->reply_text(text, true);
    sent += text.size();
  }
  CHECK(fixture.kept.at(0)->gone());
  CHECK(sent > (1U << 20U));
  CHECK(sent < (4U << 20U));
  CHECK(other.ask(kHello) == kHelloReply);
}

TEST_CASE("500 clients, each answered") {
  ServiceFixture fixture;
  std::vector<RawClient> clients;
  for (int i = 0; i < 500; ++i) {
    clients.push_back(fixture.client());
    REQUIRE(clients.back().connected());
    // Some kernels limit the queue of a listening socket to less than 500.
    if (i % 50 == 49)
      REQUIRE(fixture.loop.run_until([&] { return fixture.service.clients() == clients.size(); }));
  }
  for (auto& client : clients) REQUIRE(client.call(kHello));
  for (auto& client : clients) REQUIRE(client.receive() == kHelloReply);
  clients.clear();
  CHECK(fixture.loop.run_until([&] { return fixture.idle == 1; }));
}

TEST_CASE("without descriptors the service does not spin, says so, and serves connected clients") {
  ServiceFixture fixture;
  const Logged logged;
  // Without descriptors UBSan cannot look at a type for the first time.
  log::warning("{}", Error{EMFILE, "first", ""}.message());
  auto first = fixture.client();
  REQUIRE(first.ask(kHello) == kHelloReply);
  auto second = fixture.client();  // connected, not yet accepted
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{static_cast<rlim_t>(second.fd()) + 1, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  CHECK(first.ask(kHello) == kHelloReply);
  int rounds = 0;
  fixture.loop.run_until(
      [&] {
        ++rounds;
        return false;
      },
      200ms);
  CHECK(rounds < 50);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(second.ask(kHello) == kHelloReply);
  CHECK(logged.messages() ==
        std::vector<std::string>{"MESSAGE=first: Too many open files",
                                 "MESSAGE=accepting a client: Too many open files; "
                                 "clients get no answer until there is no such error"});
}
