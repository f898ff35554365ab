// SPDX-License-Identifier: GPL-2.0-or-later
// The commands against a well-behaved agent, and without one.
#include <nlohmann/json.hpp>
#include <string>

#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/ctl/samples.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;

namespace {

fake::Agent::Handlers with_health(const Json& health) {
  return {{"GetHealth", fake::answers({{"health", health}})}};
}

const Json kPlan = {
    {"actions", {{{"verb", "LoadModule"}, {"target", "ib_umad"}, {"reason", "it is missing"}}}},
    {"findings", Json::array()},
    {"next_look_in_ms", nullptr}};

// The output and exit code of `reload` for one answer of the agent.
struct Reloaded {
  int code = 0;
  std::string out, err;
};
Reloaded reload_with(const varlink::Handler& handler, bool json = false) {
  const fake::Directory directory;
  const fake::Agent agent{directory / "socket", {{"Reload", handler}}};
  fake::Screen screen;
  Settings settings = fake::settings(directory / "socket");
  settings.json = json;
  const int code = reload(settings, screen.console, std::nullopt);
  return {code, screen.out(), screen.err()};
}

}  // namespace

TEST_CASE("health and status print a screen and return the state's code") {
  const std::vector<std::pair<Json, int>> table{{samples::ready(), 0},    {samples::absent(), 0},
                                                {samples::degraded(), 1}, {samples::stuck(), 1},
                                                {samples::failed(), 2},   {samples::unknown(), 3}};
  const fake::Directory directory;
  for (const auto& [object, code] : table) {
    INFO(object["state"]);
    const fake::Agent agent{directory / "socket", with_health(object)};
    fake::Screen screen;
    CHECK(health(fake::settings(directory / "socket"), screen.console) == code);
    CHECK(status(fake::settings(directory / "socket"), screen.console) == code);
    CHECK(screen.out().find(object["summary"].get<std::string>().substr(0, 10)) !=
          std::string::npos);
    CHECK(screen.err().empty());
  }
}

TEST_CASE("--json prints the agent's object unchanged") {
  const fake::Directory directory;
  const fake::Agent agent{directory / "socket", with_health(samples::failed())};
  Settings settings = fake::settings(directory / "socket");
  settings.json = true;
  for (const auto command : {health, status}) {
    fake::Screen screen;
    CHECK(command(settings, screen.console) == 2);
    CHECK(Json::parse(screen.out()) == samples::failed());
  }
}

TEST_CASE("no agent: one line and exit code 3; with --json an object for monitoring") {
  const fake::Directory directory;
  Settings settings = fake::settings(directory / "socket");
  const std::string line = "pvrdma-agentctl: pvrdma-agent is not running (no process listens on " +
                           settings.socket + "). See: systemctl status pvrdma-agent\n";
  for (const auto command : {health, status, plan}) {
    fake::Screen screen;
    CHECK(command(settings, screen.console) == 3);
    CHECK(screen.err() == line);
    CHECK(screen.out().empty());
  }
  {
    fake::Screen screen;
    CHECK(reload(settings, screen.console, std::nullopt) == 3);
    CHECK(screen.err() == line);
  }
  settings.json = true;
  for (const auto command : {health, status, plan}) {
    fake::Screen screen;
    CHECK(command(settings, screen.console) == 3);
    const Json object = Json::parse(screen.out());
    CHECK(object.value("state", "unknown") == "unknown");
    CHECK(object["findings"][0]["id"] == "agent-not-running");
    CHECK(screen.err().empty());
  }
}

TEST_CASE("plan prints the agent's plan; its exit code tells whether there is an action") {
  const fake::Directory directory;
  const fake::Agent agent{directory / "socket", {{"GetPlan", fake::answers({{"plan", kPlan}})}}};
  Settings settings = fake::settings(directory / "socket");
  fake::Screen screen;
  CHECK(plan(settings, screen.console) == 1);
  CHECK(screen.out() == "1. load module ib_umad\n   because it is missing\n");
  fake::Screen for_programs;
  settings.json = true;
  CHECK(plan(settings, for_programs.console) == 1);
  CHECK(Json::parse(for_programs.out()) == kPlan);
}

TEST_CASE("status and plan look themselves only where no agent runs") {
  const fake::Directory directory;
  Settings settings = fake::settings(directory / "socket");
  int looks = 0;
  settings.look_without_agent = [&] {
    ++looks;
    return LocalLook{samples::value(samples::ready()), samples::plan_value(kPlan)};
  };
  fake::Screen screen;
  CHECK(status(settings, screen.console) == 0);
  CHECK(plan(settings, screen.console) == 1);
  CHECK(looks == 2);
  CHECK(screen.out().find("rocep19s0f1  ACTIVE") != std::string::npos);
  CHECK(screen.out().find("1. load module ib_umad") != std::string::npos);
  const std::string said =
      "pvrdma-agentctl: pvrdma-agent is not running; this is from a look without it\n";
  CHECK(screen.err() == said + said);

  const fake::Agent agent{directory / "socket", with_health(samples::failed())};
  CHECK(status(settings, screen.console) == 2);
  CHECK(looks == 2);
  const fake::BadServer mute{directory / "other", fake::says("")};
  settings.socket = directory / "other";
  CHECK(status(settings, screen.console) == 3);
  CHECK(looks == 2);
}

TEST_CASE("reload: carried out") {
  const auto ready = reload_with(fake::answers({{"health", samples::ready()}}));
  CHECK(ready.code == 0);
  CHECK(ready.out == "reloaded; now ready: 1 of 1 adapters ready\n");
  CHECK(reload_with(fake::answers({{"health", samples::converging()}})).code == 0);
  CHECK(reload_with(fake::answers({{"health", samples::failed()}})).code == 2);
}

TEST_CASE("reload: refused while in use, with PIDs and commands") {
  const Json parameters = {{"holders", samples::held_finding()["evidence"]["holders"]}};
  const auto held = reload_with(fake::refuses("io.pvrdma.Agent.InUse", parameters));
  CHECK(held.code == 1);
  CHECK(held.out.empty());
  CHECK(held.err ==
        "pvrdma-agentctl: not reloaded: an adapter is in use, so the driver cannot be taken "
        "away. Nothing was changed. Held by:\n"
        "  PID 812 ibv_asyncwatch (rocep19s0f1)\n"
        "  PID 813 \\x1b[2J\\u202eevil (rocep19s0f1)\n"
        "  PID 814 (its name could not be read)\n");
  const auto for_programs = reload_with(fake::refuses("io.pvrdma.Agent.InUse", parameters), true);
  CHECK(for_programs.code == 1);
  const Json object = Json::parse(for_programs.out);
  CHECK(object["reloaded"] == false);
  CHECK(object["error"] == "io.pvrdma.Agent.InUse");
  CHECK(object["holders"][0]["pid"] == 812);
  CHECK(object["health"].is_null());
}

TEST_CASE("reload: other refusals") {
  struct Refusal {
    std::string error;
    Json parameters;
    int code;
    std::string line;
  };
  const std::vector<Refusal> table{
      {"io.pvrdma.Agent.PermissionDenied",
       {{"method", "Reload"}},
       3,
       "only root may reload: sudo pvrdma-agentctl reload"},
      {"io.pvrdma.Agent.NoSuchAdapter",
       {{"adapter", "eth\x1b"}},
       3,
       "there is no PVRDMA adapter eth\\x1b. See: pvrdma-agentctl status"},
      {"io.pvrdma.Agent.Failed",
       {{"reason", "modules.reload is \"never\""}},
       2,
       "not reloaded: modules.reload is \"never\""},
      {"org.varlink.service.MethodNotFound", Json::object(), 3,
       "pvrdma-agent gave an answer that cannot be understood: "
       "org.varlink.service.MethodNotFound. Is pvrdma-agentctl of the same version? systemctl "
       "status pvrdma-agent"}};
  for (const Refusal& refusal : table) {
    const auto told = reload_with(fake::refuses(refusal.error, refusal.parameters));
    CHECK(told.code == refusal.code);
    CHECK(told.err == "pvrdma-agentctl: " + refusal.line + "\n");
  }
}

TEST_CASE("reload names the adapter to the agent, or none") {
  const fake::Directory directory;
  std::vector<Json> seen;  // the agent's thread writes it; read after that has ended
  {
    const fake::Agent agent{directory / "socket", {{"Reload", [&](const varlink::CallPtr& call) {
                                                      seen.push_back(call->parameters());
                                                      call->reply({{"health", samples::ready()}});
                                                    }}}};
    fake::Screen screen;
    const Settings settings = fake::settings(directory / "socket");
    CHECK(reload(settings, screen.console, "ens224f0") == 0);
    CHECK(reload(settings, screen.console, std::nullopt) == 0);
  }
  CHECK(seen == std::vector<Json>{{{"adapter", "ens224f0"}}, Json::object()});
}

TEST_CASE("acknowledge: the agent's answers") {
  struct Case {
    varlink::Handler handler;
    int code;
    std::string out;
    std::string err;
  };
  const std::vector<Case> table{
      {fake::answers({{"health", samples::ready()}}), 0, "now ready: ", ""},
      {fake::refuses("io.pvrdma.Agent.PermissionDenied", {{"method", "Acknowledge"}}), 3, "",
       "only root may acknowledge. Try: sudo pvrdma-agentctl acknowledge"},
      {fake::refuses("io.pvrdma.Agent.NoSuchAdapter", {{"adapter", "eth\x1b"}}), 3, "",
       "no adapter eth\\x1b was removed, or it was acknowledged before. See: "}};
  for (const Case& one : table) {
    const fake::Directory directory;
    const fake::Agent agent{directory / "socket", {{"Acknowledge", one.handler}}};
    fake::Screen screen;
    CHECK(acknowledge(fake::settings(directory / "socket"), screen.console, "eth\x1b") == one.code);
    CHECK(screen.out().starts_with(one.out));
    CHECK(screen.out().empty() == one.out.empty());
    CHECK(screen.err().find(one.err) != std::string::npos);
  }
}

TEST_CASE("watch prints a line for each change, or an object a line") {
  const fake::Directory directory;
  const fake::Agent agent{
      directory / "socket",
      {{"WatchHealth", fake::streams({samples::stuck(), samples::stuck(), samples::failed()})}}};
  Settings settings = fake::settings(directory / "socket");
  fake::Screen screen;
  CHECK(watch(settings, screen.console, Milliseconds{1000}) == 2);
  CHECK(screen.out().find("Z  state: converging: 0 of 0 adapters ready\n") == 20 - 1);
  CHECK(screen.out().find("Z  state: converging -> failed: 1 of 2 adapters ready\n") !=
        std::string::npos);
  fake::Screen for_programs;
  settings.json = true;
  CHECK(watch(settings, for_programs.console, Milliseconds{1000}) == 2);
  CHECK(for_programs.out() == samples::stuck().dump() + "\n" + samples::stuck().dump() + "\n" +
                                  samples::failed().dump() + "\n");
}

TEST_CASE("where the agent's state is unknown, no command reports success") {
  const fake::Directory directory;
  const Json idle = {
      {"actions", Json::array()}, {"findings", Json::array()}, {"next_look_in_ms", nullptr}};
  const fake::Agent agent{directory / "socket",
                          {{"GetHealth", fake::answers({{"health", samples::stale()}})},
                           {"GetPlan", fake::answers({{"plan", idle}})}}};
  Settings settings = fake::settings(directory / "socket");
  const std::string why = samples::stale()["summary"];
  fake::Screen table;
  CHECK(status(settings, table.console) == 3);
  CHECK(table.out().find("rocep19s0f1") != std::string::npos);
  CHECK(table.out().ends_with("\nUNKNOWN: " + why + "\n"));
  fake::Screen variables;
  CHECK(env(settings, variables.console, {}) == 3);
  CHECK(variables.out().empty());
  CHECK(variables.err().find(why) != std::string::npos);
  fake::Screen actions;
  CHECK(plan(settings, actions.console) == 3);
  CHECK(actions.out().empty());
  CHECK(actions.err().find(why) != std::string::npos);
  fake::Screen for_programs;
  settings.json = true;
  CHECK(plan(settings, for_programs.console) == 3);
  CHECK(Json::parse(for_programs.out()) == idle);
}
