// Who is answered when: looks that are asked for, and clients that leave. On a real socket, as root
// and as somebody else.
#include "tests/unit/daemon/served_agent.hpp"

using namespace pvrdma;
using namespace pvrdma::test;
using namespace std::chrono_literals;

namespace {

const std::string kRefresh = R"({"method":"io.pvrdma.Agent.Refresh"})";
const std::string kWatch = R"({"method":"io.pvrdma.Agent.WatchHealth","more":true})";

}  // namespace

TEST_CASE("however many others ask for a look, there is one in a second, and all are answered") {
  ServedAgent agent;
  auto first = agent.others(20, kRefresh);
  CHECK(agent.looks == 1);
  const BootTime first_look = agent.asked_at;
  agent.look("second");
  for (auto& client : first) CHECK(says(client.receive(), "second"));

  auto more = agent.others(20, kRefresh);
  CHECK(agent.looks == 1);
  REQUIRE(agent.loop.run_until([&] { return agent.looks > 1; }));
  CHECK(agent.asked_at - first_look >= 1000ms);
  agent.settle();
  CHECK(agent.looks == 2);
  agent.look("third");
  for (auto& client : more) CHECK(says(client.receive(), "third"));
  CHECK(agent.forgiven == 0);
}

TEST_CASE("root waits for nobody, and its look answers those who wait") {
  ServedAgent agent;
  auto first = agent.others(1, kRefresh);
  agent.look("second");
  auto waiting = agent.others(3, kRefresh);
  REQUIRE(agent.looks == 1);
  auto root = agent.client();
  REQUIRE(root.call(kRefresh));
  agent.settle();
  CHECK(agent.looks == 2);
  CHECK(agent.forgiven == 1);
  agent.look("third");
  CHECK(says(root.receive(), "third"));
  for (auto& client : waiting) CHECK(says(client.receive(), "third"));
  // The second is over: nobody waits any more, so there is no look.
  agent.loop.run_until([] { return false; }, 1200ms);
  CHECK(agent.looks == 2);
}

TEST_CASE("an answer rests on a look that began after the question") {
  ServedAgent agent;
  const BootTime began = BootClock::now();
  agent.loop.run_until([&] { return BootClock::now() > began + 5ms; });
  auto client = agent.client();
  REQUIRE(client.call(kRefresh));
  agent.settle();
  CHECK(agent.looks == 1);
  // What was under way comes to its end, and there is something new to say without any look.
  agent.summary = "old";
  agent.service.looked(began);
  agent.service.concluded(true);
  agent.look("new");
  CHECK(says(client.receive(), "new"));
}

TEST_CASE("who watches is told of changes, and forgotten as soon as he has left") {
  ServedAgent agent;
  auto watching = agent.others(10, kWatch);
  for (auto& client : watching) CHECK(says(client.receive(), "first"));
  CHECK(agent.service.waiting() == 10);
  agent.summary = "second";
  agent.service.concluded(true);
  for (auto& client : watching) CHECK(says(client.receive(), "second"));
  auto asking = agent.others(5, kRefresh);
  CHECK(agent.service.waiting() == 15);
  watching.clear();
  asking.clear();
  agent.settle();
  CHECK(agent.service.waiting() == 0);
}
