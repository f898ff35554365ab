// What the administrator is told without asking: names in it are data, whoever chose them.
#include "agent/daemon/reporter.hpp"

#include "agent/base/text.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/notified.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;

namespace {

const std::string kName = "x\nSTOPPING=1\x1b[2J\xc2\x9b\xe2\x80\xae\xff";
const std::string kShownName = "x\\nSTOPPING=1\\x1b[2J\\x9b\\u202e\\xff";

// Each name that comes from outside is the hostile one.
Health hostile_health() {
  Health health;
  health.state = State::Degraded;
  health.summary = "waits for " + kName;
  AdapterHealth adapter;
  adapter.adapter = test::ready_adapter(0);
  RdmaDevice device = *adapter.adapter.rdma.get();
  device.name = kName;
  device.port.state = kName;
  adapter.adapter.rdma = device;
  health.adapters.push_back(adapter);
  Finding finding;
  finding.id = FindingId::DriverInUse;
  finding.summary = "held by " + kName;
  finding.remedy = "end " + kName;
  health.findings.push_back(finding);
  return health;
}

bool is_printable(const std::string& line) { return printable(line) == line; }

}  // namespace

TEST_CASE("a process's name starts no line of its own, neither for systemd nor in the log") {
  const test::Manager manager;
  const test::ErrorOutput output;
  Reporter reporter;
  reporter.conclude(hostile_health(), true);
  reporter.call_ended(LoadModule{kName}, fail(0, "calling", kName));
  reporter.config_rejected(kName);
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
  // The port, the finding, the state, the call, the configuration.
  CHECK(lines == 5);
}

TEST_CASE("the service manager hears of each state once") {
  const test::Manager manager;
  const test::ErrorOutput output;
  Reporter reporter;
  Health health;
  health.state = State::Absent;
  health.summary = "no PVRDMA adapter";
  reporter.conclude(health, false);
  reporter.conclude(health, true);
  reporter.conclude(health, true);
  reporter.look_finished();
  CHECK(manager.heard() ==
        std::vector<std::string>{"STATUS=absent: no PVRDMA adapter", "READY=1", "WATCHDOG=1"});
}
