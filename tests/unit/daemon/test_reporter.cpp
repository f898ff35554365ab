// SPDX-License-Identifier: GPL-2.0-or-later
// Reports that the administrator gets unasked: names in them are data, whatever their source.
#include "agent/daemon/reporter.hpp"

#include "agent/base/journal.hpp"
#include "agent/base/log.hpp"
#include "agent/base/text.hpp"
#include "agent/model/messages.hpp"
#include "agent/plan/findings.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/logged.hpp"
#include "tests/unit/notified.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

const std::string kName = "x\nSTOPPING=1\x1b[2J\xc2\x9b\xe2\x80\xae\xff";
const std::string kShownName = "x\\nSTOPPING=1\\x1b[2J\\x9b\\u202e\\xff";

// Every untrusted name is the hostile one.
Health hostile_health() {
  Health health;
  health.state = State::Degraded;
  health.summary = "waits for " + kName;
  AdapterHealth adapter;
  adapter.adapter = test::ready_adapter(0);
  RdmaDevice device = *adapter.adapter.rdma_device.get();
  device.name = kName;
  adapter.adapter.rdma_device = device;
  health.adapters.push_back(adapter);
  Finding finding;
  finding.id = FindingId::DriverInUse;
  finding.summary = "held by " + kName;
  finding.remedy = "end " + kName;
  health.findings.push_back(finding);
  return health;
}

constexpr Milliseconds kNext{15'000};

bool is_printable(const std::string& line) { return printable(line) == line; }

}  // namespace

TEST_CASE("a process's name starts no line of its own, neither for systemd nor in the log") {
  const test::Manager manager;
  const test::ErrorOutput output;
  Reporter reporter;
  reporter.conclude(hostile_health(), {});
  Reporter::ready();
  Reporter::call_failed({LoadModule{kName}, "calling " + kName});
  Reporter::config_rejected(kName);
  const auto heard = manager.heard();
  REQUIRE(heard.size() == 2);
  CHECK(heard[0] == "STATUS=degraded: waits for " + kShownName + ": held by " + kShownName);
  CHECK(heard[1] == "READY=1");
  const std::string text = output.text();
  std::string_view log = text;
  int lines = 0;
  while (!log.empty()) {
    const std::string line{cut(log, '\n')};
    CHECK(is_printable(line));
    CHECK(line.find("STOPPING=1") != 0);
    ++lines;
  }
  // One line each for the port, the finding, the state, the call, and the configuration.
  CHECK(lines == 5);
}

TEST_CASE("an agent that could not run says so") {
  const Logged logged;
  Reporter::woke_late(Milliseconds{9'999});
  Reporter::woke_late(Milliseconds{21'400});
  CHECK(logged.messages() ==
        std::vector<std::string>{"MESSAGE=the agent could not run for 21.40 s: the system was "
                                 "suspended, or processes of a higher priority had the CPU"});
}

TEST_CASE("the service manager is told each state once") {
  const test::Manager manager;
  const test::ErrorOutput output;
  Reporter reporter;
  Health health;
  health.state = State::Absent;
  health.summary = "no PVRDMA adapter";
  for (int time = 0; time < 3; ++time) reporter.conclude(health, {});
  Reporter::ready();
  Reporter::alive();
  CHECK(manager.heard() ==
        std::vector<std::string>{"STATUS=absent: no PVRDMA adapter", "READY=1", "WATCHDOG=1"});
}

TEST_CASE("each step of the boot is one entry, once an adapter was seen") {
  const test::Manager manager;
  const test::ErrorOutput output;
  const test::Logged logged;
  Reporter reporter;
  Timeline boot;
  boot.kernel = "6.1.0";
  boot.add({StepKind::AgentStarted, {}, from_ms(2000), std::nullopt, false});
  Health health;
  health.summary = "1 of 1 adapters ready";
  reporter.conclude(health, boot);
  CHECK(logged.entries().empty());

  AdapterHealth adapter;
  adapter.adapter = test::ready_adapter(0);
  health.adapters.push_back(adapter);
  health.state = State::Ready;
  const std::string function = adapter.adapter.function;
  boot.port_changes = 1;
  boot.add({StepKind::AdapterSeen, function, from_ms(2010), std::nullopt, true});
  boot.add({StepKind::PortActive, function, from_ms(2700), std::nullopt, false});
  boot.add({StepKind::Ready, {}, from_ms(2700), std::nullopt, false});
  reporter.conclude(health, boot);
  const std::string step_id = "MESSAGE_ID=" + std::string{messages::kBootStep};
  const std::vector<log::JournalEntry> expected{
      {"MESSAGE=2.00 s after the boot began: start of the agent", "PRIORITY=6", step_id,
       "PVRDMA_STEP=agent_started", "PVRDMA_USEC_SINCE_BOOT=2000000", "PVRDMA_KERNEL=6.1.0"},
      {"MESSAGE=2.01 s after the boot began, or before: " + function + " on the bus", "PRIORITY=6",
       step_id, "PVRDMA_STEP=adapter_seen", "PVRDMA_ADAPTER=" + function,
       "PVRDMA_USEC_SINCE_BOOT=2010000", "PVRDMA_AT_OR_BEFORE=1"},
      {"MESSAGE=Port of " + adapter.adapter.rdma_device.get()->name + " (" + function +
           ") is ACTIVE",
       "PRIORITY=6", "MESSAGE_ID=" + std::string{messages::kPortChanged},
       "PVRDMA_ADAPTER=" + function, "PVRDMA_PORT_STATE=ACTIVE", "PVRDMA_STEP=port_active",
       "PVRDMA_USEC_SINCE_BOOT=2700000"},
      {"MESSAGE=ready: 1 of 1 adapters ready", "PRIORITY=6",
       "MESSAGE_ID=" + std::string{messages::kStateChanged}, "PVRDMA_STATE=ready",
       "PVRDMA_STATE_BEFORE=unknown", "PVRDMA_STEP=ready", "PVRDMA_USEC_SINCE_BOOT=2700000",
       "PVRDMA_PORT_CHANGES=1"}};
  CHECK(logged.entries() == expected);

  boot.add({StepKind::Address, function, from_ms(9000), std::nullopt, false});
  reporter.conclude(health, boot);
  reporter.conclude(health, boot);
  REQUIRE(logged.entries().size() == 5);
  CHECK(logged.entries()[4].at(3) == "PVRDMA_STEP=address");
}

TEST_CASE("a finding of the whole machine is logged again where its cause is new") {
  const Manager manager;
  const ErrorOutput output;
  Logged logged;
  Reporter reporter;
  Health health;
  const auto entries = [&](const Finding& now) {
    const std::size_t before = logged.entries().size();
    health.findings = {now};
    reporter.conclude(health, {});
    return logged.entries().size() - before;
  };
  const RemovedAdapter removed{function_of(0), "00:50:56:00:00:10", "ens10", kNow};
  RemovedAdapter a_moment_later = removed;
  a_moment_later.removed += Milliseconds{1000};
  const Milliseconds patience{86'400'000};
  SECTION("not for a number, a time or other holders") {
    CHECK(entries(findings::trying_slowly("LoadModule vmw_pvrdma", 5, {})) == 1);
    CHECK(entries(findings::trying_slowly("LoadModule vmw_pvrdma", 6, {})) == 0);
    CHECK(entries(findings::adapter_removed(removed, patience)) == 1);
    CHECK(entries(findings::adapter_removed(a_moment_later, patience)) == 0);
    CHECK(entries(findings::look_stuck(kNow)) == 1);
    CHECK(entries(findings::look_stuck(kNow + Milliseconds{1000})) == 0);
    CHECK(entries(findings::driver_in_use({{812, "job", "rocep0s10f1"}}, "a reason")) == 1);
    CHECK(entries(findings::driver_in_use({{900, "job", "rocep0s10f1"}}, "a reason")) == 0);
  }
  SECTION("another subject, reason or severity") {
    CHECK(entries(findings::trying_slowly("LoadModule vmw_pvrdma", 5, {})) == 1);
    CHECK(entries(findings::trying_slowly("LoadModule rdma_cm", 5, {})) == 1);
    CHECK(entries(findings::driver_in_use({}, "a reason")) == 1);
    CHECK(entries(findings::driver_in_use({}, "another reason")) == 1);
    CHECK(entries(findings::module_not_shipped("rdma_cm", ready_scene(), false)) == 1);
    CHECK(entries(findings::module_not_shipped("rdma_cm", ready_scene(), true)) == 1);
  }
  SECTION("another call or address of one adapter") {
    health.findings = {findings::giving_up("BindFunction x", 5, false, function_of(0)),
                       findings::gid_missing(ready_adapter(0), "192.168.30.201", GidType::Best)};
    reporter.conclude(health, {});
    CHECK(logged.entries().size() == 2);
    health.findings.push_back(findings::giving_up("ReloadDriver", 3, false, function_of(0)));
    health.findings.push_back(
        findings::gid_missing(ready_adapter(0), "192.168.30.202", GidType::Best));
    reporter.conclude(health, {});
    CHECK(logged.entries().size() == 4);
  }
  SECTION("another function or neighbour of one adapter") {
    const Adapter adapter = ready_adapter(0);
    for (const std::string& function : {adapter.net_function, adapter.function})
      CHECK(entries(about(adapter, FindingId::OtherDriver,
                          {{"function", function}, {"driver", "x"}, {"wanted", ""}, {"id", ""}})) ==
            1);
    for (const unsigned other : {1U, 2U})
      CHECK(entries(findings::same_subnet(adapter, ready_adapter(other), "192.168.30.201/24")) ==
            1);
  }
  SECTION("after it has ended") {
    CHECK(entries(findings::look_stuck(kNow)) == 1);
    health.findings.clear();
    reporter.conclude(health, {});
    CHECK(entries(findings::look_stuck(kNow)) == 1);
  }
}

TEST_CASE("a pass is logged at debug only, where it is new or acts") {
  const ErrorOutput output;
  Logged logged;
  Reporter reporter;
  reporter.passed(ready_scene(), plan_to_reload(), true, kNext);
  CHECK(logged.entries().empty());
  log::set_level(log::Level::Debug);
  reporter.passed(ready_scene(), {}, true, kNext);
  CHECK(logged.messages() ==
        std::vector<std::string>{"MESSAGE=" + kReadyLine + "; next look in 15000 ms"});
  // The pass differs only in the time until the next look.
  reporter.passed(ready_scene(), {}, true, Milliseconds{700});
  CHECK(logged.entries().size() == 1);
  Snapshot down = ready_scene();
  netdev(down).carrier = false;
  reporter.passed(down, {}, true, kNext);
  CHECK(logged.entries().size() == 2);
  // The same action again counts as new each time it is carried out.
  for (const bool acts : {true, true, true, false})
    reporter.passed(down, plan_to_reload(), acts, kNext);
  CHECK(logged.entries().size() == 5);
  CHECK(logged.entries().back().at(1) == "PRIORITY=7");
}
