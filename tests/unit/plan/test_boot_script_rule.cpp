// SPDX-License-Identifier: GPL-2.0-or-later
// A site's own scripts that reload the driver: no reload against them.
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

Snapshot reload_due_scene() {
  Snapshot snapshot = ready_scene();
  rdma(snapshot).port.state = PortState::Down;
  return snapshot;
}

}  // namespace

TEST_CASE("no reload against a script that reloads by itself, until that has ended") {
  Snapshot snapshot = reload_due_scene();
  snapshot.boot_scripts = {{"/etc/cron.d/rdma", true}, {"/etc/rc.local", false}};
  const Plan waiting = plan_settled(snapshot);
  CHECK(waiting.actions.empty());
  REQUIRE(finding(waiting.findings, FindingId::ReloadWaits) != nullptr);
  CHECK(finding(waiting.findings, FindingId::ReloadWaits)->summary.find("/etc/rc.local") !=
        std::string::npos);
  // This holds also for an administrator's request, and for modules.reload = "always".
  History history = long_settled(snapshot);
  history.reload_asked = kNow;
  CHECK(plan({}, snapshot, history, kNow).actions.empty());
  Config config;
  config.modules.reload = ReloadPolicy::Always;
  CHECK(plan_settled(snapshot, config).actions.empty());
  // The script is being waited for; this is no failure yet.
  CHECK(assess({}, snapshot, waiting, {}, kNow).state == State::Converging);

  snapshot.boot_scripts[1].ended = true;
  const Plan after = plan_settled(snapshot);
  CHECK(described(after) == Steps{"ReloadDriver vmw_pvrdma"});
  CHECK(finding(after.findings, FindingId::ReloadWaits) == nullptr);
}

TEST_CASE("no reload while it is not known whether a script reloads") {
  Snapshot snapshot = reload_due_scene();
  snapshot.boot_scripts_error = Error{110, "looking for", "scripts"};
  const Plan waiting = plan_settled(snapshot);
  CHECK(waiting.actions.empty());
  REQUIRE(finding(waiting.findings, FindingId::ReloadWaits) != nullptr);
  CHECK(finding(waiting.findings, FindingId::ReloadWaits)->summary.find("timed out") !=
        std::string::npos);
}

TEST_CASE("a script that reloads at every boot is a warning while it is there") {
  Snapshot snapshot = ready_scene();
  CHECK(plan_settled(snapshot).findings.empty());
  snapshot.boot_scripts = {{"/etc/rc.local", true}};
  const Plan made = plan_settled(snapshot);
  REQUIRE(finding(made.findings, FindingId::BootScript) != nullptr);
  CHECK(finding(made.findings, FindingId::BootScript)->severity == Severity::Info);
  CHECK(finding(made.findings, FindingId::BootScript)->remedy.find("pvrdma-agentctl migrate") !=
        std::string::npos);
}
