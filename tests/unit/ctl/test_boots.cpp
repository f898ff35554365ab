// SPDX-License-Identifier: GPL-2.0-or-later
// `boots`: the table, and the journal entries that it is made of.
#include <map>
#include <nlohmann/json.hpp>

#include "agent/ctl/boots_journal.hpp"
#include "tests/unit/boots.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/ctl/samples.hpp"
#include "tests/unit/text.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using namespace pvrdma::test;
using samples::kPlain;

namespace {

fake::Printed run_boots(const Answered<JournalBoots>& found, bool json = false) {
  const fake::Screen screen;
  Settings settings;
  settings.json = json;
  const int code = boots(settings, screen.console, found);
  return {code, screen.out(), screen.err()};
}

using Fields = std::map<std::string, std::string>;

FieldOf fields(Fields entry) {
  return [entry = std::move(entry)](const char* name) {
    const auto found = entry.find(name);
    return found == entry.end() ? std::string{} : found->second;
  };
}

FieldOf adapter_entry(const char* step, const std::string& usec, Fields others = {}) {
  others.insert({{"PVRDMA_STEP", step}, {"PVRDMA_USEC_SINCE_BOOT", usec}});
  const bool whole_machine = step == std::string{"agent_started"} || step == std::string{"ready"};
  if (!whole_machine) others.insert({"PVRDMA_ADAPTER", kFunction});
  return fields(std::move(others));
}

}  // namespace

TEST_CASE("a column for each boot, a row for each step") {
  Timeline slow = usual_boot("new", 20'000);
  slow.port_changes = 1;
  Timeline other = usual_boot("old");
  other.began = "2026-11-20T22:10:07Z";
  other.kernel = "6.1.0-28-amd64";
  other.steps.pop_back();
  other.add({StepKind::DriverReloaded, "vmw_pvrdma", BootTime{Milliseconds{9000}},
             Milliseconds{6100}, false});
  CHECK(render_boots({slow, other}, kPlain) ==
        R"(boot of                      2026-11-21    2026-11-20
(UTC)                        02:31:43      22:10:07
kernel                       6.1.0-test    6.1.0-28-amd64
start of the agent           2.00 +2.00    2.00 +2.00
0000:13:00.1 on the bus      <= 2.01       <= 2.01
load of ib_umad              2.20 (0.04)   2.20 (0.04)
vmw_pvrdma live              2.50 +0.30    2.50 +0.30
link up of 0000:13:00.1      2.60 +0.10    2.60 +0.10
carrier of 0000:13:00.1      22.61 +20.01  2.61 +0.01
port ACTIVE of 0000:13:00.1  22.70 +0.09   2.70 +0.09
reload of vmw_pvrdma         -             9.00 (6.10)
ready                        23.00 +0.30   -
changes of a port before     1             0

Seconds since the boot began, +seconds since the step before, (seconds in the
kernel). <=: the agent's first look found the step reached; it was reached then
or before.
)");
}

TEST_CASE("boots that do not fit next to each other stand below, with the same rows") {
  const std::vector<Timeline> boots(6, usual_boot());
  const std::string text = render_boots(boots, kPlain);
  std::size_t tables = 0;
  for (std::size_t at = 0; (at = text.find("start of the agent", at)) != std::string::npos; ++at)
    ++tables;
  CHECK(tables == 2);
  CHECK(has(text, "\nKernel: 6.1.0-test\n"));
  // However narrow the terminal is, there is one boot in a row.
  CHECK(has(render_boots({usual_boot()}, {10, false, {}}), "2.00 +2.00"));
}

TEST_CASE("an entry is printed without control characters") {
  Timeline evil = usual_boot();
  evil.steps.pop_back();
  evil.began = "\x1b[2J";
  evil.kernel = "\x1b]0;x";
  put(evil, StepKind::ModuleLoaded, "a\nb", 2300);
  const std::string text = render_boots({evil}, kPlain);
  CHECK_FALSE(has(text, "\x1b"));
  CHECK(has(text, "load of a\\nb"));
}

TEST_CASE("each entry of the journal is a step with its fields") {
  Timeline boot;
  add_entry(boot, fields({{"PVRDMA_STEP", "agent_started"},
                          {"PVRDMA_USEC_SINCE_BOOT", "2000999"},
                          {"PVRDMA_KERNEL", "6.1.0"}}));
  add_entry(boot, adapter_entry("adapter_seen", "2010000", {{"PVRDMA_AT_OR_BEFORE", "1"}}));
  add_entry(boot, fields({{"PVRDMA_STEP", "module_loaded"},
                          {"PVRDMA_TARGET", "ib_umad"},
                          {"PVRDMA_USEC_SINCE_BOOT", "2005000"},
                          {"PVRDMA_USEC_TOOK", "40000"}}));
  add_entry(boot, fields({{"PVRDMA_STEP", "ready"},
                          {"PVRDMA_USEC_SINCE_BOOT", "3000000"},
                          {"PVRDMA_PORT_CHANGES", "2"}}));
  CHECK(
      boot.steps ==
      std::vector<Step>{{StepKind::AgentStarted, "", from_ms(2000), std::nullopt, false},
                        {StepKind::ModuleLoaded, "ib_umad", from_ms(2005), Milliseconds{40}, false},
                        {StepKind::AdapterSeen, kFunction, from_ms(2010), std::nullopt, true},
                        {StepKind::Ready, "", from_ms(3000), std::nullopt, false}});
  CHECK(boot.kernel == "6.1.0");
  CHECK(boot.port_changes == 2);
}

TEST_CASE("a restart of the agent does not change the boot") {
  Timeline boot = usual_boot();
  const Timeline before = boot;
  for (const char* step : {"agent_started", "adapter_seen", "carrier", "port_active", "ready"})
    add_entry(boot, adapter_entry(step, "99000000", {{"PVRDMA_PORT_CHANGES", "7"}}));
  // A later reload, and an adapter that was plugged in.
  add_entry(boot, fields({{"PVRDMA_STEP", "driver_reloaded"},
                          {"PVRDMA_TARGET", "vmw_pvrdma"},
                          {"PVRDMA_USEC_SINCE_BOOT", "99000000"}}));
  add_entry(boot, fields({{"PVRDMA_STEP", "adapter_seen"},
                          {"PVRDMA_ADAPTER", "0000:1b:00.1"},
                          {"PVRDMA_USEC_SINCE_BOOT", "99000000"}}));
  CHECK(boot == before);
  add_entry(boot, adapter_entry("address", "9000000"));
  CHECK(boot.find(StepKind::Address, kFunction)->at == from_ms(9000));
}

TEST_CASE("an entry that makes no sense is none") {
  Timeline boot;
  for (const char* usec : {"", "-1", "x", "1 ", "99999999999999999999", "9007199254740993"})
    add_entry(boot, adapter_entry("adapter_seen", usec));
  add_entry(boot, adapter_entry("of_a_later_version", "1"));
  add_entry(boot, adapter_entry("adapter_seen", "1", {{"PVRDMA_ADAPTER", std::string(129, 'x')}}));
  CHECK(boot == Timeline{});
}

TEST_CASE("boots prints the journal's steps, and reports missing ones") {
  const auto usual = run_boots(JournalBoots{{usual_boot("now"), usual_boot("before")}, false});
  CHECK(usual.code == 0);
  CHECK(has(usual.out, "start of the agent"));
  CHECK(usual.err.empty());
  const auto alone = run_boots(JournalBoots{{usual_boot("now")}, true}, true);
  CHECK(alone.code == 0);
  CHECK(has(alone.err, "/var/log/journal"));
  const Json printed = Json::parse(alone.out);
  CHECK(printed["version"] == 1);
  CHECK(printed["boots"][0]["boot_id"] == "now");
  CHECK(printed["boots"][0]["steps"][2] == Json{{"step", "module_loaded"},
                                                {"subject", "ib_umad"},
                                                {"at_ms", 2200},
                                                {"took_ms", 40},
                                                {"at_or_before", false}});
  CHECK(printed["boots"][0]["steps"][0]["subject"].is_null());
  const auto none = run_boots(JournalBoots{{}, false});
  CHECK(none.code == 3);
  CHECK(has(none.err, "no boot with an adapter. See: journalctl"));
  const auto closed =
      run_boots(tl::unexpected(NoAnswer{"", "this user may not", "Root may"}), true);
  CHECK(closed.code == 3);
  CHECK(Json::parse(closed.out)["error"]["remedy"] == "Root may");
}
