// SPDX-License-Identifier: GPL-2.0-or-later
// Rendering under unusual conditions: narrow terminals, colours, long lists, untrusted names.
#include <string>

#include "agent/ctl/json_text.hpp"
#include "agent/model/catalogue.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/samples.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using samples::kPlain;
using samples::render_adapter;
using samples::render_health;
using samples::render_status;

namespace {

std::string longest_line(const std::string& text) {
  std::string longest;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    if (end - start > longest.size()) longest = text.substr(start, end - start);
    start = end + 1;
  }
  return longest;
}

}  // namespace

TEST_CASE("a screen keeps to the width of the terminal") {
  for (const std::size_t width : {60U, 80U, 100U}) {
    const Style style{width, false, kPlain.now};
    CHECK(columns(longest_line(render_health(samples::failed(), style))) <= width);
    CHECK(columns(longest_line(render_health(samples::degraded(), style))) <= width);
  }
}

TEST_CASE("colours only where the style has them") {
  for (const Json& health : {samples::ready(), samples::failed(), samples::stuck()}) {
    CHECK(render_health(health, kPlain).find('\x1b') == std::string::npos);
    CHECK(render_status(health, kPlain).find('\x1b') == std::string::npos);
  }
  const Style coloured{80, true, kPlain.now};
  CHECK(render_health(samples::ready(), coloured).rfind("\x1b[1;32mREADY\x1b[0m  1 of", 0) == 0);
  CHECK(render_health(samples::failed(), coloured).find("\x1b[1;31mERROR\x1b[0m") !=
        std::string::npos);
  CHECK(render_status(samples::failed(), coloured).find("\x1b[1;31mfailed\x1b[0m  -") !=
        std::string::npos);
}

TEST_CASE("with colours, too, an untrusted name cannot send escape sequences") {
  const Style coloured{80, true, kPlain.now};
  const std::string screen = render_health(samples::degraded(), coloured);
  CHECK(screen.find("\x1b[2J") == std::string::npos);
  CHECK(screen.find("\\x1b[2J") != std::string::npos);
  Json health = samples::ready();
  health["adapters"][0]["netdev"] = "e\x1b[31mvil\n";
  CHECK(render_status(health, kPlain).find("  e\\x1b[31mvil\\n  ") != std::string::npos);
}

TEST_CASE("a field that could not be read is not called absent") {
  Json adapter = samples::broken_adapter();
  adapter["unreadable"] = {"driver: reading driver: Permission denied"};
  const std::string rows = render_adapter(adapter, kPlain);
  CHECK(rows.find("  Driver       could not be read\n") != std::string::npos);
  CHECK(rows.find("  RDMA device  none: the driver has not registered one\n") != std::string::npos);
}

TEST_CASE("a lost pairing is shown, an intact one is not") {
  Json adapter = samples::ready_adapter();
  CHECK(render_adapter(adapter, kPlain).find("Paired with") == std::string::npos);
  adapter["rdma_netdev"] = nullptr;
  CHECK(render_adapter(adapter, kPlain).find("  Paired with  none: the driver has lost") !=
        std::string::npos);
}

TEST_CASE("long lists of holders and GIDs are cut on the screen") {
  Json health = samples::degraded();
  Json& holders = health["findings"][1]["evidence"]["holders"];
  for (int pid = 1000; pid < 1128; ++pid)
    holders.push_back({{"pid", pid}, {"command", "mpirun"}, {"rdma_device", ""}});
  CHECK(render_health(health, kPlain).find("           and 123 more (all of them: --json)\n") !=
        std::string::npos);
  Json adapter = samples::ready_adapter();
  for (int index = 2; index < 12; ++index)
    adapter["gids"].push_back({{"index", index}, {"gid", "fe80::1"}, {"type", "RoCE v2"}});
  CHECK(render_adapter(adapter, kPlain).find("               and 4 more (all of them: --json)\n") !=
        std::string::npos);
  for (Json& gid : adapter["gids"]) gid["type"] = "IB/RoCE v1";
  CHECK(render_adapter(adapter, kPlain).find("--json)\n               RoCE v1 only: see") !=
        std::string::npos);
}

TEST_CASE("a finding of the agent about a stuck executor is not repeated") {
  Json health = samples::stuck();
  health["findings"].push_back(
      samples::finding("executor-stuck", "error", "LoadModule mlx4_ib has not come back.", ""));
  const std::string screen = render_health(health, kPlain);
  CHECK(screen.find("STUCK  ") == std::string::npos);
  CHECK(screen.find("ERROR    executor-stuck: ") != std::string::npos);
}

TEST_CASE("plan: actions with reasons, findings, the next look") {
  Plan plan;
  plan.actions = {{LoadModule{"ib_umad"}, "it must come first"},
                  {ReloadDriver{}, "the port is DOWN"},
                  {BindFunction{"0000:13:00.1"}, ""}};
  plan.findings = {make_finding(FindingId::ReloadForbidden, {}, {{"reason", "the port is DOWN"}})};
  plan.next_look = samples::kNow.boot + std::chrono::seconds{5};
  CHECK(render_plan(plan, kPlain) == R"(1. load module ib_umad
   because it must come first
2. unload driver vmw_pvrdma and load it again, for all adapters
   because the port is DOWN
3. bind driver vmw_pvrdma to adapter 0000:13:00.1

WARNING  reload-forbidden: vmw_pvrdma ought to be reloaded (the port is DOWN),
         but modules.reload is "never".
         To do: Set modules.reload to "auto"; or run `modprobe -r vmw_pvrdma`
         when no job runs: the agent loads it again, one adapter after another.

Without any event, the agent looks again in 5 s.
)");
  CHECK(render_plan({}, kPlain) == "nothing to do\n");
}

TEST_CASE("exit codes of a plan") {
  const auto code = [](std::vector<Action> actions, std::vector<Severity> severities) {
    Plan plan{std::move(actions), {}, {}};
    for (const Severity severity : severities) plan.findings.emplace_back().severity = severity;
    return plan_exit_code(plan);
  };
  const Action action{LoadModule{"ib_umad"}, ""};
  CHECK(code({}, {}) == 0);
  CHECK(code({}, {Severity::Info}) == 0);
  CHECK(code({}, {Severity::Info, Severity::Warning}) == 1);
  CHECK(code({action}, {}) == 1);
  CHECK(code({action}, {Severity::Error, Severity::Info}) == 2);
}

TEST_CASE("exit codes of states are a monitoring plugin's") {
  CHECK(exit_code(State::Ready) == 0);
  CHECK(exit_code(State::Absent) == 0);
  CHECK(exit_code(State::Degraded) == 1);
  CHECK(exit_code(State::Converging) == 1);
  CHECK(exit_code(State::Failed) == 2);
  CHECK(exit_code(State::Unknown) == 3);
}

TEST_CASE("the reason of a state is its worst finding, else the call under way") {
  const auto reason = [](const Json& health) { return reason_of(samples::value(health)); };
  CHECK(reason(samples::degraded()).rfind("vmw_pvrdma ought to be reloaded", 0) == 0);
  CHECK(reason(samples::converging()) == "bring up the link of adapter 0000:13:00.1 to finish");
  CHECK(reason(samples::unknown()) == "no look has finished yet");
}

TEST_CASE("JSON is printed in ASCII, whatever the strings hold") {
  CHECK(dumped(Json{{"command", "\x1b[2J\x7f\xc2\x9b\xff"}}, -1) ==
        R"({"command":"\u001b[2J\u007f\u009b\ufffd"})");
}
