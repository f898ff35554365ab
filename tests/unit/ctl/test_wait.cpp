// SPDX-License-Identifier: GPL-2.0-or-later
// `wait` ends in time, with the right code, whatever the agent does.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <string>

#include "agent/ctl/follower.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/ctl/samples.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;

namespace {

constexpr Milliseconds kShort{1000};
constexpr Milliseconds kLong = std::chrono::seconds{20};

struct Waited {
  int code = 0;
  std::string out, err;
};

Waited wait_for(const std::vector<Json>& healths, WaitOptions options, bool json = false,
                bool live = false) {
  const fake::Directory directory;
  const fake::Agent agent{directory / "socket", {{"WatchHealth", fake::streams(healths)}}};
  Settings settings = fake::settings(directory / "socket");
  settings.json = json;
  fake::Screen screen;
  screen.console.live = live;
  const int code = wait(settings, screen.console, options);
  return {code, screen.out(), screen.err()};
}

}  // namespace

TEST_CASE("wait ends with ready or absent, quietly until then") {
  const Waited ready = wait_for({samples::converging(), samples::ready()}, {kLong, false});
  CHECK(ready.code == 0);
  CHECK(ready.out.rfind("ready: 1 of 1 adapters ready (after ", 0) == 0);
  CHECK(ready.err.empty());
  CHECK(wait_for({samples::absent()}, {kLong, false}).code == 0);
}

TEST_CASE("on a time-out wait names the missing parts and returns the state's code") {
  const Waited held = wait_for({samples::degraded()}, {kShort, false});
  CHECK(held.code == 1);
  CHECK(held.out.empty());
  CHECK(held.err ==
        "pvrdma-agentctl: not ready after 1 s (degraded): vmw_pvrdma ought to be reloaded "
        "(ib_umad was loaded after it), but is held.\n"
        "pvrdma-agentctl: to do: Nothing is unloaded while a process holds an adapter.\n");
  CHECK(wait_for({samples::converging()}, {kShort, false}).code == 1);
  CHECK(wait_for({samples::failed()}, {kShort, false}).code == 2);
  CHECK(wait_for({samples::unknown()}, {kShort, false}).code == 3);
}

TEST_CASE("on a time-out the last state counts") {
  CHECK(wait_for({samples::failed(), samples::degraded()}, {kShort, false}).code == 1);
}

TEST_CASE("wait --for settled takes any verdict, and returns its code") {
  const Waited failed = wait_for({samples::converging(), samples::failed()}, {kLong, true});
  CHECK(failed.code == 2);
  CHECK(failed.out.rfind("failed: 1 of 2 adapters ready (after ", 0) == 0);
  CHECK(wait_for({samples::degraded()}, {kLong, true}).code == 1);
  CHECK(wait_for({samples::converging()}, {kShort, true}).code == 1);
}

TEST_CASE("wait --json prints one health object, in any case") {
  const Waited ready = wait_for({samples::ready()}, {kLong, false}, true);
  CHECK(Json::parse(ready.out) == samples::ready());
  const Waited late = wait_for({samples::failed()}, {kShort, false}, true);
  CHECK(late.code == 2);
  CHECK(Json::parse(late.out) == samples::failed());
  CHECK(late.err.empty());
}

TEST_CASE("a terminal shows one line that is rewritten, and cleared at the end") {
  const Waited late = wait_for({samples::degraded()}, {kShort, false}, false, true);
  CHECK(late.out.find("\r\x1b[Kwaiting ") == 0);
  CHECK(late.out.find(" of 1 s: vmw_pvrdma ought to be reloaded") != std::string::npos);
  CHECK(late.out.rfind("\r\x1b[K") == late.out.size() - 4);
  CHECK(late.out.find('\n') == std::string::npos);
  const Waited json = wait_for({samples::ready()}, {kLong, false}, true, true);
  CHECK(json.out.find('\x1b') == std::string::npos);
}

TEST_CASE("without an agent wait ends in time with code 3") {
  const fake::Directory directory;
  fake::Screen screen;
  const Settings settings = fake::settings(directory / "not/yet/socket");
  CHECK(wait(settings, screen.console, {kShort, false}) == 3);
  CHECK(screen.err().find("not ready after 1 s (unknown): pvrdma-agent is not running") !=
        std::string::npos);
}

TEST_CASE("an agent that accepts and says nothing is named as such") {
  const fake::Directory directory;
  const fake::BadServer server{directory / "socket", fake::stays_silent()};
  fake::Screen screen;
  CHECK(wait(fake::settings(directory / "socket"), screen.console, {kShort, false}) == 3);
  CHECK(screen.err().find("(unknown): pvrdma-agent is running but does not answer") !=
        std::string::npos);
}

TEST_CASE("wait survives a restart of the agent with a stale socket file") {
  const fake::Directory directory;
  fake::Screen screen;
  std::promise<void> watched;
  varlink::CallPtr kept;  // an open stream, until the first agent ends
  auto first = std::make_unique<fake::Agent>(
      directory / "socket",
      fake::Agent::Handlers{{"WatchHealth", [&](const varlink::CallPtr& call) {
                               call->reply_continues({{"health", samples::converging()}});
                               kept = call;
                               watched.set_value();
                             }}});
  auto code = std::async(std::launch::async, [&] {
    return wait(fake::settings(directory / "socket"), screen.console, {kLong, false});
  });
  watched.get_future().wait();
  first.reset();
  const fake::Agent second{directory / "socket",
                           {{"WatchHealth", fake::streams({samples::ready()})}}};
  CHECK(code.get() == 0);
}

TEST_CASE("a socket watch wakes up for changes in the directory") {
  const fake::Directory directory;
  SocketWatch watch{directory / "run/socket"};
  const auto waited = [&] {
    const BootTime start = BootClock::now();
    watch.wait(std::chrono::seconds{10});
    return BootClock::now() - start;
  };
  watch.arm();
  std::filesystem::create_directory(directory / "run");
  CHECK(waited() < Milliseconds{500});
  watch.arm();
  std::ofstream{directory / "run/socket"} << "";
  CHECK(waited() < Milliseconds{500});
  // A change that was read once does not count again; without a change the watch looks again after
  // a second.
  CHECK(waited() >= Milliseconds{900});
}

namespace {

// A console whose lines the test waits for.
class Reader {
 public:
  Reader() : signal_(std::signal(SIGPIPE, SIG_IGN)) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    in_ = Fd{ends[0]};
    screen.console.out = out_ = ::fdopen(ends[1], "w");
  }
  ~Reader() {
    screen.console.out = kept_;
    std::fclose(out_);
    std::signal(SIGPIPE, signal_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Reads lines until one has the text; false: none came.
  [[nodiscard]] bool sees(const std::string& text) {
    pollfd event{in_.get(), POLLIN, 0};
    for (std::string line;;) {
      char letter = 0;
      if (::poll(&event, 1, 10'000) != 1 || ::read(in_.get(), &letter, 1) != 1) return false;
      line += letter;
      if (letter != '\n') continue;
      if (line.find(text) != std::string::npos) return true;
      line.clear();
    }
  }
  // Makes all further printing fail.
  void close() { in_ = Fd{}; }

  fake::Screen screen;

 private:
  void (*signal_)(int);
  std::FILE* kept_ = screen.console.out;
  std::FILE* out_ = nullptr;
  Fd in_;
};

}  // namespace

TEST_CASE("watch reports the state once the agent is back, even an unchanged one") {
  const fake::Directory directory;
  const auto agent = [&] {
    return std::make_unique<fake::Agent>(
        directory / "socket",
        fake::Agent::Handlers{{"WatchHealth", fake::streams({samples::ready()})}});
  };
  Reader reader;
  auto running = agent();
  auto code = std::async(std::launch::async, [&] {
    return watch(fake::settings(directory / "socket"), reader.screen.console, std::nullopt);
  });
  CHECK(reader.sees("state: ready"));
  running.reset();
  CHECK(reader.sees("unknown: pvrdma-agent is not running"));
  running = agent();
  CHECK(reader.sees("state: ready"));
  reader.close();
  running.reset();  // watch cannot print this any more
  CHECK(code.get() == 3);
}
