// SPDX-License-Identifier: GPL-2.0-or-later
// An agent that hangs up, sends nonsense or is silent costs a bounded time and exit code 3.
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "agent/ctl/follower.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/ctl/samples.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;

namespace {

std::string message(const Json& object) { return object.dump() + '\0'; }

std::string health_with(const fake::BadServer::Behaviour& behaviour, Milliseconds limit) {
  const fake::Directory directory;
  const fake::BadServer server{directory / "socket", behaviour};
  Settings settings = fake::settings(directory / "socket");
  settings.answer_within = limit;
  settings.json = true;
  fake::Screen screen;
  CHECK(health(settings, screen.console) == 3);
  const Json object = Json::parse(screen.out());
  CHECK(object["state"] == "unknown");
  return object["findings"][0]["id"];
}

}  // namespace

TEST_CASE("bad answers") {
  const Milliseconds patient = std::chrono::seconds{5};
  CHECK(health_with(fake::says(""), patient) == "agent-not-answering");
  CHECK(health_with(fake::says("{\"parameters\": {\"hea"), patient) == "agent-not-answering");
  CHECK(health_with(fake::says(std::string("nonsense\0", 9)), patient) == "agent-bad-answer");
  CHECK(health_with(fake::says(std::string("[1]\0", 4)), patient) == "agent-bad-answer");
  CHECK(health_with(fake::says(message({{"parameters", Json::object()}})), patient) ==
        "agent-bad-answer");
  CHECK(health_with(fake::says(message({{"parameters", {{"health", "good"}}}})), patient) ==
        "agent-bad-answer");
  CHECK(health_with(fake::says(message({{"error", "a.b.C\x1b"}})), patient) == "agent-bad-answer");
}

TEST_CASE("an error in place of a health is named, escaped") {
  const fake::Directory directory;
  const fake::Agent agent{directory / "socket", {{"GetHealth", fake::refuses("a.b.No", {})}}};
  fake::Screen screen;
  CHECK(health(fake::settings(directory / "socket"), screen.console) == 3);
  CHECK(screen.err().find("cannot be understood: a.b.No. Is") != std::string::npos);
  fake::Screen other;
  const fake::BadServer server{directory / "other", fake::says(message({{"error", "a.b.C\x1b"}}))};
  CHECK(health(fake::settings(directory / "other"), other.console) == 3);
  CHECK(other.err().find('\x1b') == std::string::npos);
}

TEST_CASE("no answer at all: the command ends in time") {
  const BootTime start = BootClock::now();
  CHECK(health_with(fake::stays_silent(), Milliseconds{150}) == "agent-not-answering");
  CHECK(BootClock::now() - start < std::chrono::seconds{3});
}

TEST_CASE("a reload that takes too long goes on, and the line says so") {
  const fake::Directory directory;
  const fake::BadServer server{directory / "socket", fake::stays_silent()};
  Settings settings = fake::settings(directory / "socket");
  settings.reload_within = Milliseconds{150};
  fake::Screen screen;
  CHECK(reload(settings, screen.console, std::nullopt) == 3);
  CHECK(screen.err() ==
        "pvrdma-agentctl: the reload has not finished within 150 ms. It still goes on. See: "
        "pvrdma-agentctl health\n");
  settings.json = true;
  fake::Screen machine;
  CHECK(reload(settings, machine.console, std::nullopt) == 3);
  CHECK(Json::parse(machine.out()).at("error") == "reload-not-finished");
}

TEST_CASE("a socket file without a listener means no agent") {
  const fake::Directory directory;
  const std::string path = directory / "socket";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  {
    const Fd socket{::socket(AF_UNIX, SOCK_STREAM, 0)};
    REQUIRE(bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }
  fake::Screen screen;
  CHECK(health(fake::settings(path), screen.console) == 3);
  CHECK(screen.err().find("is not running") != std::string::npos);
}

TEST_CASE("the meaning of each errno for the agent") {
  const std::vector<std::pair<int, std::string>> table{
      {ENOENT, "agent-not-running"},       {ECONNREFUSED, "agent-not-running"},
      {EACCES, "agent-not-accessible"},    {ETIMEDOUT, "agent-not-answering"},
      {ECONNRESET, "agent-not-answering"}, {EBADMSG, "agent-bad-answer"},
      {EMFILE, "agent-not-answering"}};
  for (const auto& [code, id] : table) CHECK(explain({code, "calling", "it"}, "/run/x").id == id);
}

TEST_CASE("a server that always hangs up is tried a few times a second, not more") {
  const fake::Directory directory;
  const std::string once =
      message({{"parameters", {{"health", samples::stuck()}}}, {"continues", true}});
  for (const std::string& bytes : {std::string{}, once, message({{"error", "a.b.C"}})}) {
    const fake::BadServer server{directory / "socket", fake::says(bytes)};
    Settings settings = fake::settings(directory / "socket");
    fake::Screen screen;
    CHECK(wait(settings, screen.console, {Milliseconds{700}, false}) != 0);
    CHECK(server.connections() >= 2);
    CHECK(server.connections() <= 6);
    std::filesystem::remove(settings.socket);
  }
}

TEST_CASE("the same error is reported once, and again after an answer") {
  const fake::Directory directory;
  Follower follower{directory / "socket", std::chrono::seconds{5}};
  const auto first = follower.next(Milliseconds{100});
  REQUIRE(first);
  CHECK(first->error().not_running());
  CHECK_FALSE(follower.next(Milliseconds{100}));
  {
    const fake::Agent agent{directory / "socket",
                            {{"WatchHealth", fake::streams({samples::ready()})}}};
    const auto answer = follower.next(std::chrono::seconds{5});
    REQUIRE(answer);
    CHECK((*answer)->value.state == State::Ready);
  }
  const auto gone = follower.next(std::chrono::seconds{5});
  REQUIRE(gone);
  CHECK(gone->error().not_running());
}

TEST_CASE("an agent that is silent after accepting is an error, one without changes is not") {
  const fake::Directory directory;
  {
    const fake::BadServer silent{directory / "socket", fake::stays_silent()};
    Follower follower{directory / "socket", Milliseconds{100}};
    const auto trouble = follower.next(std::chrono::seconds{5});
    REQUIRE(trouble);
    CHECK(trouble->error().id == "agent-not-answering");
  }
  std::filesystem::remove(directory / "socket");
  const fake::Agent agent{directory / "socket",
                          {{"WatchHealth", fake::streams({samples::ready()})}}};
  constexpr Milliseconds kAnswerWithin{1000};
  Follower follower{directory / "socket", kAnswerWithin};
  const auto first = follower.next(std::chrono::seconds{5});
  REQUIRE(first);
  REQUIRE(*first);
  CHECK_FALSE(follower.next(kAnswerWithin + Milliseconds{200}));
}
