// SPDX-License-Identifier: GPL-2.0-or-later
// Both clients, with a real service and with servers that misbehave.
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <thread>

#include "agent/varlink/client.hpp"
#include "agent/varlink/listening.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/varlink/service_fixture.hpp"

using namespace pvrdma;
using namespace pvrdma::test;
using namespace std::chrono_literals;
using varlink::AsyncClient;
using varlink::Client;
using varlink::Json;
using varlink::Reply;

namespace {

// Runs a fixture's loop in a thread of its own, for the blocking client.
class Running {
 public:
  explicit Running(const Loop& loop) : stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    sd_event_add_io(
        loop.get(), nullptr, stop_.get(), EPOLLIN,
        [](sd_event_source* source, int, std::uint32_t, void*) {
          return sd_event_exit(sd_event_source_get_event(source), 0);
        },
        nullptr);
    thread_ = std::thread{[event = loop.get()] { sd_event_loop(event); }};
  }
  ~Running() {
    ::eventfd_write(stop_.get(), 1);
    thread_.join();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  Fd stop_;
  std::thread thread_;
};

// A server of the test: listens, and the test handles the accepted socket.
struct RawServer {
  TemporaryDirectory directory;
  std::string path = directory / "socket";
  Fd socket = std::move(*varlink::listening_socket(path, 0600));
  [[nodiscard]] Fd accept() const { return Fd{::accept(socket.get(), nullptr, nullptr)}; }
};

void say(const Fd& socket, std::string_view bytes) {
  CHECK(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
        static_cast<ssize_t>(bytes.size()));
}

int code_of(const Result<Reply>& reply) { return reply ? 0 : reply.error().code; }

}  // namespace

TEST_CASE("a blocking call") {
  ServiceFixture fixture;
  const Running running{fixture.loop};
  auto client = Client::connect(fixture.path, 5s);
  REQUIRE(client);
  auto reply = client->call("org.example.Test.Echo", {{"text", "a"}}, 5s);
  REQUIRE(reply);
  CHECK(reply->parameters == Json{{"text", "a"}});
  CHECK(reply->error.empty());
  reply = client->call("org.example.Test.Echo", {{"text", "odd"}}, 5s);
  REQUIRE(reply);
  CHECK(reply->error == "org.example.Test.Odd");
  CHECK(reply->parameters == Json{{"why", "asked"}});
  reply = client->call("org.example.Test.Big", {{"bytes", 900'000}}, 5s);
  REQUIRE(reply);
  CHECK(reply->parameters.at("filler").get<std::string>().size() == 900'000);
}

TEST_CASE("a call that is not answered times out, and closes") {
  ServiceFixture fixture;
  const Running running{fixture.loop};
  auto client = Client::connect(fixture.path, 5s);
  REQUIRE(client);
  const auto start = BootClock::now();
  CHECK(code_of(client->call("org.example.Test.Later", Json::object(), 100ms)) == ETIMEDOUT);
  CHECK(BootClock::now() - start >= 90ms);
  CHECK(BootClock::now() - start < 2s);
  CHECK(code_of(client->call("org.example.Test.Echo", {{"text", "a"}}, 5s)) == ENOTCONN);
}

TEST_CASE("connecting") {
  const TemporaryDirectory directory;
  CHECK(Client::connect(directory / "none", 1s).error().code == ENOENT);
  CHECK(Client::connect(std::string(200, 'x'), 1s).error().code == ENAMETOOLONG);
  const std::string path = directory / "socket";
  REQUIRE(varlink::listening_socket(path, 0600));
  CHECK(Client::connect(path, 1s).error().code == ECONNREFUSED);
  // A server that accepts no connection: its queue fills up.
  const auto full = varlink::listening_socket(path, 0600);
  REQUIRE(full);
  REQUIRE(::listen(full->get(), 0) == 0);
  const auto first = Client::connect(path, 100ms);
  REQUIRE(first);
  CHECK(Client::connect(path, 100ms).error().code == EAGAIN);
}

TEST_CASE("a server that misbehaves, to the blocking client") {
  const RawServer server;
  auto client = Client::connect(server.path, 1s);
  REQUIRE(client);
  Fd socket = server.accept();
  REQUIRE(client->start_stream("a.b.C", Json::object()));
  SECTION("hangs up") {
    socket = Fd{};
    CHECK(code_of(client->next(1s)) == ECONNRESET);
  }
  SECTION("hangs up in the middle") {
    say(socket, "{\"para");
    socket = Fd{};
    CHECK(code_of(client->next(1s)) == ECONNRESET);
  }
  SECTION("sends nonsense") {
    say(socket, {"nonsense\0", 9});
    CHECK(code_of(client->next(1s)) == EBADMSG);
  }
  SECTION("sends a stream slowly") {
    say(socket, "{\"parameters\":{\"n\":1},");
    CHECK(code_of(client->next(50ms)) == ETIMEDOUT);
    say(socket, {"\"continues\":true}\0{}\0", 21});
    const auto first = client->next(1s);
    REQUIRE(first);
    CHECK(first->parameters == Json{{"n", 1}});
    CHECK(first->continues);
    const auto last = client->next(1s);
    REQUIRE(last);
    CHECK_FALSE(last->continues);
  }
  SECTION("does not read") {
    const Json large = {{"filler", std::string(8U << 20U, 'x')}};
    CHECK(code_of(client->call("a.b.C", large, 100ms)) == ETIMEDOUT);
  }
}

TEST_CASE("a call on the loop") {
  ServiceFixture fixture;
  AsyncClient client{fixture.loop.get(), fixture.path};
  std::vector<Result<Reply>> replies;
  const auto keep = [&](Result<Reply> reply) { replies.push_back(std::move(reply)); };
  const auto wait_for = [&](std::size_t count) {
    return fixture.loop.run_until([&] { return replies.size() == count; });
  };

  client.call("org.example.Test.Echo", {{"text", "a"}}, keep);
  CHECK(client.busy());
  CHECK(replies.empty());
  REQUIRE(wait_for(1));
  CHECK_FALSE(client.busy());
  CHECK(replies[0]->parameters == Json{{"text", "a"}});

  SECTION("answered later") {
    client.call("org.example.Test.Later", Json::object(), keep);
    REQUIRE(fixture.loop.run_until([&] { return fixture.kept.size() == 1; }));
    CHECK(replies.size() == 1);
    CHECK(client.busy());
    fixture.kept.clear();
    REQUIRE(wait_for(2));
    CHECK(replies[1]->error == "org.varlink.service.MethodNotImplemented");
  }
  SECTION("large both ways") {
    client.call("org.example.Test.Big", {{"bytes", 900'000}}, keep);
    REQUIRE(wait_for(2));
    CHECK(replies[1]->parameters.at("filler").get<std::string>().size() == 900'000);
  }
  SECTION("calling again from within done") {
    client.call("org.example.Test.Echo", {{"text", "b"}}, [&](const Result<Reply>&) {
      client.call("org.example.Test.Echo", {{"text", "c"}}, keep);
    });
    REQUIRE(wait_for(2));
    CHECK(replies[1]->parameters == Json{{"text", "c"}});
  }
}

TEST_CASE("a server that misbehaves, to the client on the loop") {
  const Loop loop;
  auto server = std::make_optional<RawServer>();
  auto client = std::make_optional<AsyncClient>(loop.get(), server->path);
  std::optional<Result<Reply>> reply;
  const auto keep = [&](Result<Reply> got) { reply.emplace(std::move(got)); };
  const auto done = [&] { return reply.has_value(); };
  SECTION("is not there") {
    server.reset();
    client->call("a.b.C", Json::object(), keep);
    CHECK_FALSE(reply);
    CHECK(client->busy());
    REQUIRE(loop.run_until(done));
    CHECK_FALSE(client->busy());
    CHECK(code_of(*reply) == ENOENT);
    reply.reset();
    client->call("a.b.C", Json::object(), keep);
    REQUIRE(loop.run_until(done));
    CHECK(code_of(*reply) == ENOENT);
  }
  SECTION("hangs up at once") {
    client->call("a.b.C", Json::object(), keep);
    static_cast<void>(server->accept());
    REQUIRE(loop.run_until(done));
    CHECK(code_of(*reply) == ECONNRESET);
  }
  SECTION("hangs up in the middle") {
    client->call("a.b.C", Json::object(), keep);
    say(server->accept(), "{\"para");
    REQUIRE(loop.run_until(done));
    CHECK(code_of(*reply) == ECONNRESET);
  }
  SECTION("never answers: nothing happens, and the client can go") {
    client->call("a.b.C", Json::object(), keep);
    const Fd socket = server->accept();
    CHECK_FALSE(loop.run_until(done, 100ms));
    CHECK(client->busy());
    client.reset();
    CHECK_FALSE(loop.run_until(done, 50ms));
  }
  SECTION("sends nonsense") {
    client->call("a.b.C", Json::object(), keep);
    const Fd socket = server->accept();
    say(socket, {"[]\0", 3});
    REQUIRE(loop.run_until(done));
    CHECK(code_of(*reply) == EBADMSG);
  }
  SECTION("answers in single bytes") {
    client->call("a.b.C", Json::object(), keep);
    const Fd socket = server->accept();
    for (const char c : std::string{"{\"parameters\":{\"x\":1}}\0", 23}) {
      say(socket, {&c, 1});
      loop.run_until([] { return false; }, 1ms);
    }
    REQUIRE(loop.run_until(done));
    CHECK((*reply)->parameters == Json{{"x", 1}});
  }
  SECTION("has the client destroyed from within done") {
    client->call("a.b.C", Json::object(), [&](Result<Reply> got) {
      client.reset();
      keep(std::move(got));
    });
    static_cast<void>(server->accept());
    REQUIRE(loop.run_until(done));
    CHECK(code_of(*reply) == ECONNRESET);
  }
}
