// What each method answers, and to whom: on a real socket, as root and as somebody else.
#include "tests/unit/daemon/served_agent.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

const std::string kReload = R"({"method":"io.pvrdma.Agent.Reload"})";

std::string asking(const std::string& method, const std::string& adapter) {
  return R"({"method":"io.pvrdma.Agent.)" + method + R"(","parameters":{"adapter":")" + adapter +
         R"("}})";
}

nlohmann::json parsed(const std::optional<std::string>& reply) {
  REQUIRE(reply);
  return nlohmann::json::parse(*reply);
}

nlohmann::json error(const std::string& name, const nlohmann::json& parameters) {
  return {{"error", "io.pvrdma.Agent." + name}, {"parameters", parameters}};
}

}  // namespace

TEST_CASE("anybody may ask for health and plan, and is answered from memory") {
  ServedAgent agent;
  agent.plan.actions.push_back({LoadModule{"ib_umad"}, "it comes before vmw_pvrdma"});
  auto health = agent.others(1, R"({"method":"io.pvrdma.Agent.GetHealth"})");
  CHECK(says(health[0].receive(), "first"));
  auto plan = agent.others(1, R"({"method":"io.pvrdma.Agent.GetPlan"})");
  const auto actions = parsed(plan[0].receive())["parameters"]["plan"]["actions"];
  REQUIRE(actions.size() == 1);
  CHECK(actions[0]["verb"] == "LoadModule");
  CHECK(actions[0]["target"] == "ib_umad");
  CHECK(agent.looks == 0);
}

TEST_CASE("what changes something is for root alone") {
  ServedAgent agent;
  for (const std::string method : {"Reload", "Acknowledge"}) {
    auto others = agent.others(1, R"({"method":"io.pvrdma.Agent.)" + method + "\"}");
    CHECK(parsed(others[0].receive()) == error("PermissionDenied", {{"method", method}}));
    // Nor is he told which adapters there are.
    others = agent.others(1, asking(method, "eth7"));
    CHECK(parsed(others[0].receive()) == error("PermissionDenied", {{"method", method}}));
  }
  CHECK(agent.reloads == 0);
  CHECK(agent.acknowledged == 0);
}

TEST_CASE("a reload is answered when it has ended, to all who asked for it") {
  ServedAgent agent;
  auto first = agent.client();
  auto second = agent.client();
  REQUIRE(first.call(kReload));
  REQUIRE(second.call(asking("Reload", "ens10")));
  agent.settle();
  CHECK(agent.reloads == 2);
  REQUIRE(agent.service.reload_awaited());
  agent.summary = "reloaded";
  SECTION("done") {
    agent.service.reload_ended({}, {});
    CHECK(says(first.receive(), "reloaded"));
    CHECK(says(second.receive(), "reloaded"));
  }
  SECTION("an adapter is in use") {
    agent.service.reload_ended("in use", {{812, "ibv_asyncwatch", "rocep0s10f1"}});
    const nlohmann::json holder{
        {"pid", 812}, {"command", "ibv_asyncwatch"}, {"rdma_device", "rocep0s10f1"}};
    CHECK(parsed(first.receive()) ==
          error("InUse", {{"holders", nlohmann::json::array({holder})}}));
    CHECK(parsed(second.receive())["error"] == "io.pvrdma.Agent.InUse");
  }
  SECTION("it did not work") {
    agent.service.reload_ended("the kernel said no", {});
    CHECK(parsed(first.receive()) == error("Failed", {{"reason", "the kernel said no"}}));
    CHECK(parsed(second.receive())["error"] == "io.pvrdma.Agent.Failed");
  }
  CHECK_FALSE(agent.service.reload_awaited());
}

TEST_CASE("a reload that is refused, or of an adapter that is not there, is not waited for") {
  ServedAgent agent;
  auto root = agent.client();
  CHECK(parsed(root.ask(asking("Reload", "eth7"))) ==
        error("NoSuchAdapter", {{"adapter", "eth7"}}));
  CHECK(agent.reloads == 0);
  agent.refusal = "it is forbidden";
  CHECK(parsed(root.ask(kReload)) == error("Failed", {{"reason", "it is forbidden"}}));
  CHECK_FALSE(agent.service.reload_awaited());
}

TEST_CASE("an adapter is acknowledged by its name, or none in particular") {
  ServedAgent agent;
  auto root = agent.client();
  CHECK(says(root.ask(asking("Acknowledge", "ens10")), "first"));
  CHECK(parsed(root.ask(asking("Acknowledge", "eth7"))) ==
        error("NoSuchAdapter", {{"adapter", "eth7"}}));
  // There may be nothing to acknowledge.
  CHECK(says(root.ask(R"({"method":"io.pvrdma.Agent.Acknowledge"})"), "first"));
  CHECK(agent.acknowledged == 3);
}

TEST_CASE("a watch without `more` is one answer") {
  ServedAgent agent;
  auto root = agent.client();
  CHECK(says(root.ask(R"({"method":"io.pvrdma.Agent.WatchHealth"})"), "first"));
  CHECK(agent.service.waiting() == 0);
}
