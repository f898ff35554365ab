// SPDX-License-Identifier: GPL-2.0-or-later
// io.pvrdma.Agent on a real socket: the event that each call becomes, its caller, and the form of
// each answer. The choice and the time of answers are step()'s
// (tests/unit/plan/test_step_asked.cpp).
#include "agent/daemon/agent_service.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/unit/as_nobody.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/varlink/loop_fixture.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

using nlohmann::json;

struct Served {
  Served()
      : service(
            loop.get(), [this](Event event) { events.push_back(std::move(event)); },
            [] { return std::string{R"({"version":1})"}; }) {
    REQUIRE(service.listen(path));
    state.health.summary = "first";
    state.plan.actions.push_back({LoadModule{"ib_umad"}, "it comes before vmw_pvrdma"});
  }
  [[nodiscard]] RawClient asking(const std::string& method, const json& parameters = json::object(),
                                 bool more = false) const {
    RawClient client{loop, path};
    json call{{"method", "io.pvrdma.Agent." + method}, {"parameters", parameters}};
    if (more) call["more"] = true;
    REQUIRE(client.call(call.dump()));
    return client;
  }
  // Returns the next event, which must be of this kind.
  template <typename Kind>
  Kind next() {
    REQUIRE(loop.run_until([this] { return !events.empty(); }));
    REQUIRE(std::holds_alternative<Kind>(events.front()));
    Kind event = std::get<Kind>(events.front());
    events.erase(events.begin());
    return event;
  }
  void tell(ClientId client, Answer::What what, std::string text = {},
            std::vector<Holder> holders = {}) {
    service.tell({{client, what, std::move(text), std::move(holders)}}, state, BootClock::now());
  }

  TemporaryDirectory directory;
  std::string path = directory / "agent";
  Loop loop;
  AgentState state;
  std::vector<Event> events;
  AgentService service;
};

json told(RawClient& client) {
  const auto message = client.receive();
  REQUIRE(message);
  return json::parse(*message);
}
std::string summary(RawClient& client) { return told(client)["parameters"]["health"]["summary"]; }

json error(const std::string& name, const json& parameters) {
  return {{"error", "io.pvrdma.Agent." + name}, {"parameters", parameters}};
}

}  // namespace

TEST_CASE("each method is an event with its caller") {
  Served agent;
  auto health = agent.asking("GetHealth");
  CHECK(agent.next<HealthAsked>().caller == Caller::Root);
  auto plan = agent.asking("GetPlan");
  CHECK(agent.next<PlanAsked>().caller == Caller::Root);
  auto watch = agent.asking("WatchHealth", json::object(), true);
  CHECK(agent.next<WatchAsked>().more);
  auto once = agent.asking("WatchHealth");
  CHECK_FALSE(agent.next<WatchAsked>().more);
  auto reload = agent.asking("Reload", {{"adapter", "ens10"}});
  CHECK(agent.next<ReloadAsked>().adapter == "ens10");
  auto any = agent.asking("Reload", {{"adapter", nullptr}});
  CHECK_FALSE(agent.next<ReloadAsked>().adapter);
  auto acknowledge = agent.asking("Acknowledge");
  CHECK_FALSE(agent.next<AcknowledgeAsked>().adapter);
  const AsNobody nobody;
  auto refresh = agent.asking("Refresh");
  CHECK(agent.next<RefreshAsked>().caller == Caller::Other);
  auto others = agent.asking("Reload");
  CHECK(agent.next<ReloadAsked>().caller == Caller::Other);
  CHECK(agent.service.waiting() == 9);
}

TEST_CASE("each answer goes to its caller, once") {
  Served agent;
  auto first = agent.asking("GetHealth");
  auto second = agent.asking("GetPlan");
  const ClientId health = agent.next<HealthAsked>().client;
  const ClientId plan = agent.next<PlanAsked>().client;
  CHECK(health != plan);
  agent.tell(plan, Answer::What::Plan);
  const json actions = told(second)["parameters"]["plan"]["actions"];
  REQUIRE(actions.size() == 1);
  CHECK(actions[0]["verb"] == "LoadModule");
  CHECK(actions[0]["target"] == "ib_umad");
  agent.tell(health, Answer::What::Health);
  CHECK(summary(first) == "first");
  CHECK(agent.service.waiting() == 0);
  agent.tell(health, Answer::What::Health);
  // The client may ask again on the same connection.
  REQUIRE(first.call(R"({"method":"io.pvrdma.Agent.GetHealth"})"));
  CHECK(agent.next<HealthAsked>().client > plan);
}

TEST_CASE("a refusal is an error of the interface") {
  Served agent;
  const auto refused = [&](Answer::What what, const std::string& text,
                           std::vector<Holder> holders = {}) {
    auto client = agent.asking("Reload");
    agent.tell(agent.next<ReloadAsked>().client, what, text, std::move(holders));
    return told(client);
  };
  CHECK(refused(Answer::What::PermissionDenied, "Reload") ==
        error("PermissionDenied", {{"method", "Reload"}}));
  CHECK(refused(Answer::What::NoSuchAdapter, "eth7") ==
        error("NoSuchAdapter", {{"adapter", "eth7"}}));
  CHECK(refused(Answer::What::Failed, "no") == error("Failed", {{"reason", "no"}}));
  const json holder{{"pid", 812}, {"command", "ibv_asyncwatch"}, {"rdma_device", "rocep0s10f1"}};
  CHECK(refused(Answer::What::InUse, "in use", {{812, "ibv_asyncwatch", "rocep0s10f1"}}) ==
        error("InUse", {{"holders", json::array({holder})}}));
}

TEST_CASE("a watcher gets each reply, and is forgotten as soon as it has left") {
  Served agent;
  std::vector<RawClient> clients;
  std::vector<ClientId> ids;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(agent.asking("WatchHealth", json::object(), true));
    ids.push_back(agent.next<WatchAsked>().client);
    agent.tell(ids.back(), Answer::What::HealthAndMore);
    CHECK(summary(clients.back()) == "first");
  }
  agent.state.health.summary = "second";
  for (const ClientId id : ids) agent.tell(id, Answer::What::HealthAndMore);
  for (auto& client : clients) CHECK(summary(client) == "second");
  CHECK(agent.service.waiting() == 10);
  clients[3].leave();
  CHECK(agent.next<ClientLeft>().client == ids[3]);
  agent.tell(ids[3], Answer::What::HealthAndMore);
  clients.clear();
  REQUIRE(agent.loop.run_until([&] { return agent.service.waiting() == 0; }));
  CHECK(agent.events.size() == 9);
}

TEST_CASE("a watcher that does not read is disconnected before much is unsent") {
  Served agent;
  agent.state.health.summary = std::string(20'000, 'x');
  auto deaf = agent.asking("WatchHealth", json::object(), true);
  const ClientId deaf_id = agent.next<WatchAsked>().client;
  auto reads = agent.asking("WatchHealth", json::object(), true);
  const ClientId reading_id = agent.next<WatchAsked>().client;
  for (int i = 0; i < 10; ++i) {
    agent.service.tell({{deaf_id, Answer::What::HealthAndMore, {}, {}},
                        {reading_id, Answer::What::HealthAndMore, {}, {}}},
                       agent.state, BootClock::now());
    CHECK(summary(reads).size() == 20'000);
  }
  CHECK(agent.next<ClientLeft>().client == deaf_id);
  CHECK(agent.service.waiting() == 1);
  CHECK(deaf.is_cut_off());
}

TEST_CASE("a watcher that reads keeps its connection, however long and close its answers are") {
  Served agent;
  auto watch = agent.asking("WatchHealth", json::object(), true);
  const ClientId id = agent.next<WatchAsked>().client;
  agent.state.health.summary = std::string(200'000, 'x');
  for (int round = 0; round < 3; ++round) {
    // The second answer follows the first one at once.
    agent.tell(id, Answer::What::HealthAndMore);
    agent.tell(id, Answer::What::HealthAndMore);
    CHECK(summary(watch).size() == 200'000);
    CHECK(summary(watch).size() == 200'000);
  }
  CHECK(agent.events.empty());
}

TEST_CASE("a client may leave while it is answered, or before the service ends") {
  Served agent;
  auto stays = agent.asking("GetHealth");
  const ClientId staying = agent.next<HealthAsked>().client;
  auto leaves = agent.asking("GetHealth");
  const ClientId leaving = agent.next<HealthAsked>().client;
  leaves.leave();
  // The service does not know that the client has left until the loop runs.
  agent.service.tell({{leaving, Answer::What::Health, {}}, {staying, Answer::What::Health, {}}},
                     agent.state, BootClock::now());
  CHECK(summary(stays) == "first");
  CHECK(agent.events.empty());
}

TEST_CASE("the recording is for root alone") {
  Served agent;
  auto root = agent.asking("GetRecording");
  CHECK(told(root) == json{{"parameters", {{"recording", {{"version", 1}}}}}});
  const AsNobody nobody;
  auto other = agent.asking("GetRecording");
  CHECK(told(other) == error("PermissionDenied", {{"method", "GetRecording"}}));
  CHECK(agent.events.empty());
}
