// The service with a daemon that looks, reloads and forgets when it is told to.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "agent/daemon/agent_service.hpp"
#include "tests/unit/as_nobody.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/varlink/loop_fixture.hpp"

namespace pvrdma::test {

struct ServedAgent {
  ServedAgent() : service(loop.get(), daemon()) { REQUIRE(service.listen(path)); }
  AgentService::Daemon daemon() {
    AgentService::Daemon daemon;
    daemon.health = [this] {
      Health health;
      health.summary = summary;
      return health;
    };
    daemon.plan = [this]() -> const Plan& { return plan; };
    daemon.refresh = [this](bool forgive) {
      // On a machine with much to do it takes a while until the first one's time is noted.
      if (looks == 0) std::this_thread::sleep_for(std::chrono::milliseconds{5});
      ++looks;
      forgiven += forgive ? 1 : 0;
      asked_at = BootClock::now();
    };
    daemon.reload = [this] {
      ++reloads;
      return refusal;
    };
    daemon.knows_adapter = [](const std::string& name) { return name == "ens10"; };
    daemon.acknowledge = [this](const std::optional<std::string>& name) {
      ++acknowledged;
      return name == "ens10";
    };
    return daemon;
  }
  [[nodiscard]] RawClient client() const { return {loop, path}; }
  // Lets the service do what there is to do now.
  void settle() const {
    for (int round = 0; round < 50; ++round) sd_event_run(loop.get(), 0);
  }
  // `count` clients that are not root, each of which has sent `question`.
  [[nodiscard]] std::vector<RawClient> others(int count, const std::string& question) const {
    std::vector<RawClient> clients;
    const AsNobody nobody;
    for (int i = 0; i < count; ++i) {
      clients.push_back(client());
      REQUIRE(clients.back().call(question));
    }
    settle();
    return clients;
  }
  // A look from now on, and the pass over it.
  void look(const std::string& seen) {
    const BootTime began = BootClock::now();
    summary = seen;
    service.looked(began);
  }

  TemporaryDirectory directory;
  std::string path = directory / "agent";
  Loop loop;
  std::string summary = "first";
  Plan plan;
  std::string refusal;  // of a reload; empty: it is accepted
  int looks = 0;
  int forgiven = 0;
  int reloads = 0;
  int acknowledged = 0;
  BootTime asked_at;
  AgentService service;
};

inline bool says(const std::optional<std::string>& reply, const std::string& summary) {
  return reply && reply->find("\"summary\":\"" + summary + "\"") != std::string::npos;
}

}  // namespace pvrdma::test
