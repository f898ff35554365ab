// SPDX-License-Identifier: GPL-2.0-or-later
// The executor behind its socket: answers, refusals, permitted callers, and the exit when idle.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "agent/base/clock.hpp"
#include "agent/executor/server.hpp"
#include "agent/varlink/client.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/executor/tree.hpp"

namespace pvrdma::executor {

namespace {

constexpr uid_t kNobodyUid = 65534;

Fd listening(const std::filesystem::path& path) {
  Fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.string().size() < sizeof address.sun_path);
  std::strcpy(address.sun_path, path.c_str());
  REQUIRE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(socket.get(), 8) == 0);
  return socket;
}

// Calls from another process, each on a connection of its own: exit status 0 where `expected` is in
// the text of each reply.
pid_t calls_from_child(int calls, const std::filesystem::path& path, uid_t uid,
                       const std::string& method, const varlink::Json& parameters,
                       const std::string& expected) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  if (uid != 0 && ::setuid(uid) != 0) ::_exit(3);
  for (int i = 0; i < calls; ++i) {
    auto client = varlink::Client::connect(path, std::chrono::seconds{5});
    if (!client) ::_exit(2);
    const auto reply =
        client->call("io.pvrdma.Executor." + method, parameters, std::chrono::seconds{5});
    const std::string text = reply ? reply->error + " " + reply->parameters.dump() : "";
    if (text.find(expected) == std::string::npos) ::_exit(1);
  }
  ::_exit(0);
}

pid_t call_from_child(const std::filesystem::path& path, uid_t uid, const std::string& method,
                      const varlink::Json& parameters, const std::string& expected) {
  return calls_from_child(1, path, uid, method, parameters, expected);
}

struct ServerFixture {
  test::Tree tree;
  std::vector<std::pair<Operation, OperationResult>> logged;
  std::function<void()> at_log;  // where set, it is called with each request
  Operations operations;
  Handle<sd_event, sd_event_unref> event;

  ServerFixture()
      : operations(Places{
            tree.root(), tree / "/ledger.json", tree / "/door", {tree / "/lib/modules/none", {}}}) {
    test::add_adapter(tree, "ens224f0", 5);
    ::chmod((tree / "/").c_str(), 0755);
    sd_event* raw = nullptr;
    REQUIRE(sd_event_new(&raw) >= 0);
    event.reset(raw);
  }

  using Start = std::function<pid_t(const std::filesystem::path&)>;

  // Serves until the child has ended; returns its exit status.
  int serve_for(const Start& start) {
    return serve(start, Milliseconds{60'000}, [&](pid_t child) {
      const Fd ended{static_cast<int>(::syscall(SYS_pidfd_open, child, 0))};
      const auto leave = [](sd_event_source* source, int, std::uint32_t, void*) {
        return sd_event_exit(sd_event_source_get_event(source), 0);
      };
      sd_event_source* raw = nullptr;
      REQUIRE(sd_event_add_io(event.get(), &raw, ended.get(), EPOLLIN, leave, nullptr) >= 0);
      const Handle<sd_event_source, sd_event_source_unref> source{raw};
      CHECK(sd_event_loop(event.get()) == 0);
    });
  }

  // Serves until no client has come for this time.
  int serve_until_idle(const Start& start, Milliseconds idle) {
    return serve(start, idle, [&](pid_t) { CHECK(sd_event_loop(event.get()) == 0); });
  }

 private:
  int serve(const Start& start, Milliseconds idle, const std::function<void(pid_t)>& loop) {
    const auto path = tree / "/socket";
    Server server{event.get(),
                  operations,
                  {12345, idle},
                  [&](const Operation& operation, const OperationResult& result, Milliseconds) {
                    logged.emplace_back(operation, result);
                    if (at_log) at_log();
                  }};
    REQUIRE(server.listen_on(listening(path)).has_value());
    ::chmod(path.c_str(), 0666);
    const pid_t child = start(path);
    loop(child);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

}  // namespace

TEST_CASE_METHOD(ServerFixture, "server: an answer, a log line, and then the exit") {
  CHECK(serve_until_idle(
            [](const auto& path) {
              return call_from_child(path, 0, "BindFunction", {{"function", test::kFunction}},
                                     "already_done");
            },
            Milliseconds{3000}) == 0);
  REQUIRE(logged.size() == 1);
  CHECK(logged[0].first == Operation{BindFunction{test::kFunction}});
  CHECK(logged[0].second.outcome == Outcome::AlreadyDone);
}

TEST_CASE_METHOD(ServerFixture, "server: the guard's refusal has its own error") {
  CHECK(serve_for([](const auto& path) {
          return call_from_child(path, 0, "LoadModule", {{"module", "floppy"}},
                                 "io.pvrdma.Executor.NotAllowed {\"reason\":\"floppy");
        }) == 0);
  CHECK(logged.size() == 1);
}

TEST_CASE_METHOD(ServerFixture, "server: bad parameters reach no operation") {
  CHECK(serve_for([](const auto& path) {
          return call_from_child(path, 0, "BindFunction", {{"function", 5}}, "InvalidParameter");
        }) == 0);
  CHECK(logged.empty());
}

TEST_CASE_METHOD(ServerFixture, "server: only root and the agent's user may ask") {
  if (::geteuid() != 0) {
    WARN("skipped: needs root to become another user");
    return;
  }
  SECTION("another user") {
    CHECK(serve_for([](const auto& path) {
            return call_from_child(path, kNobodyUid, "BindFunction",
                                   {{"function", test::kFunction}},
                                   "io.pvrdma.Executor.NotAllowed {\"reason\":\"uid 65534");
          }) == 0);
    REQUIRE(logged.size() == 1);
    CHECK(logged[0].second.outcome == Outcome::NotAllowed);
  }
  SECTION("the agent's user") {
    CHECK(serve_for([](const auto& path) {
            return call_from_child(path, 12345, "BindFunction", {{"function", test::kFunction}},
                                   "already_done");
          }) == 0);
  }
}

TEST_CASE_METHOD(ServerFixture, "server: the agent does not rest, however much CPU time it uses") {
  if (::geteuid() != 0) {
    WARN("skipped: needs root to become another user");
    return;
  }
  at_log = [] {
    const std::uint64_t until = cpu_us() + 60'000;
    while (cpu_us() < until) continue;
  };
  const BootTime start = BootClock::now();
  CHECK(serve_for([](const auto& path) {
          return calls_from_child(8, path, 12345, "BindFunction", {{"function", test::kFunction}},
                                  "already_done");
        }) == 0);
  CHECK(logged.size() == 8);
  // With the shares of the agent's own socket each call but the first waits a second.
  CHECK(BootClock::now() - start < Milliseconds{5000});
}

TEST_CASE_METHOD(ServerFixture, "server: it exits when no client comes") {
  CHECK(serve_until_idle(
            [](const auto&) {
              const pid_t child = ::fork();
              if (child == 0) ::_exit(0);
              return child;
            },
            Milliseconds{100}) == 0);
  CHECK(logged.empty());
}

}  // namespace pvrdma::executor
