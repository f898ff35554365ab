// SPDX-License-Identifier: GPL-2.0-or-later
// The executor's client with a real socket: a fake executor that answers, refuses, dies, hangs or
// is missing. The consequences are step()'s (tests/unit/plan/test_step_calls.cpp).
#include "agent/daemon/daemon.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "agent/codec/json.hpp"
#include "agent/varlink/interfaces.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/varlink/loop_fixture.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

const Operation kBind = BindFunction{"0000:00:10.1"};

struct Bench {
  explicit Bench(bool listens = true)
      : service(std::make_unique<varlink::Service>(loop.get(), "test")),
        client(loop.get(), path, [this](Event event) { events.push_back(std::move(event)); }) {
    std::map<std::string, varlink::Handler> handlers;
    for (const auto& [verb, name] : kWordsOf<Verb>)
      handlers[name] = [this](varlink::CallPtr call) { take(std::move(call)); };
    REQUIRE(service->add_interface(varlink::kExecutorInterface, std::move(handlers)));
    if (listens) REQUIRE(service->listen(path, 0600));
  }
  void take(varlink::CallPtr call) {
    seen.push_back(call->method());
    kept = std::move(call);
    if (hangs) return;
    if (error.empty())
      kept->reply({{"result", codec::to_json(OperationResult{Outcome::Done, "", 0, {}})}});
    else
      kept->error(error, {{"parameter", "netdev"}, {"reason", "not ours"}});
    kept.reset();
  }
  Event next() {
    REQUIRE(loop.run_until([this] { return !events.empty(); }));
    Event event = events.front();
    events.erase(events.begin());
    return event;
  }
  // The result of a call that reached the executor.
  Result<OperationResult> ended() {
    const Event event = next();
    REQUIRE(std::holds_alternative<CallEnded>(event));
    CHECK(std::get<CallEnded>(event).operation == kBind);
    return std::get<CallEnded>(event).result;
  }
  Error unreachable() {
    const Event event = next();
    REQUIRE(std::holds_alternative<ExecutorUnreachable>(event));
    CHECK(std::get<ExecutorUnreachable>(event).operation == kBind);
    return std::get<ExecutorUnreachable>(event).error;
  }

  TemporaryDirectory directory;
  std::string path = directory / "executor";
  Loop loop;
  std::unique_ptr<varlink::Service> service;
  std::vector<std::string> seen;
  std::vector<Event> events;
  varlink::CallPtr kept;
  bool hangs = false;
  std::string error;  // the error that answers each call; empty: it is done
  ExecutorClient client;
};

}  // namespace

TEST_CASE("a call has its method's name, and its answer is an event from the loop") {
  Bench bench;
  bench.client.call(kBind);
  CHECK(bench.events.empty());
  CHECK(bench.ended() == OperationResult{Outcome::Done, "", 0, {}});
  CHECK(bench.seen == std::vector<std::string>{"io.pvrdma.Executor.BindFunction"});
  bench.client.call(kBind);
  CHECK(bench.ended());
}

TEST_CASE("a refusal by the guard is an answer, an unreadable call has none") {
  Bench bench;
  bench.error = "io.pvrdma.Executor.NotAllowed";
  bench.client.call(kBind);
  CHECK(bench.ended() == OperationResult{Outcome::NotAllowed, "not ours", 0, {}});
  bench.error = "org.varlink.service.InvalidParameter";
  bench.client.call(kBind);
  const auto result = bench.ended();
  REQUIRE_FALSE(result);
  CHECK(result.error().message() == R"(the executor answered org.varlink.service.InvalidParameter )"
                                    R"({"parameter":"netdev","reason":"not ours"})");
}

TEST_CASE("a call that hangs ends when it returns, or when the executor dies") {
  Bench bench;
  bench.hangs = true;
  bench.client.call(kBind);
  REQUIRE(bench.loop.run_until([&] { return bench.kept != nullptr; }));
  bench.loop.run_until([] { return false; }, std::chrono::milliseconds{50});
  CHECK(bench.events.empty());
  SECTION("the call returns") {
    bench.kept->reply({{"result", codec::to_json(OperationResult{Outcome::Done, "", 0, {}})}});
    bench.kept.reset();
    CHECK(bench.ended());
  }
  SECTION("the executor dies") {
    // The order matters: the call is dropped before its connection is answered.
    bench.service.reset();
    bench.kept.reset();
    const auto result = bench.ended();
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ECONNRESET);
  }
}

TEST_CASE("where the connection fails, the executor does not know the call") {
  Bench bench{false};
  SECTION("there is no socket") {
    bench.client.call(kBind);
    CHECK(bench.unreachable().code == ENOENT);
    REQUIRE(bench.service->listen(bench.path, 0600));
    bench.client.call(kBind);
    CHECK(bench.ended());
  }
  SECTION("another file is in its place") {
    const Fd other{socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    bench.path.copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(bind(other.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    bench.client.call(kBind);
    CHECK(bench.unreachable().message().find("Protocol wrong type") != std::string::npos);
  }
}
