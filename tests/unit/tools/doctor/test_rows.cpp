// SPDX-License-Identifier: GPL-2.0-or-later
// The rows of doctor: their content, and that a row is good only where its facts are known to be.
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <map>

#include "agent/tools/doctor/checks.hpp"
#include "agent/tools/doctor/surroundings.hpp"
#include "agent/tools/doctor/survey_probe.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"
#include "tests/unit/probes/tree.hpp"
#include "tests/unit/tools/doctor/doctor_scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

// A snapshot in which every row can be good.
Snapshot good_snapshot() {
  Snapshot snapshot = ready_scene(1);
  netdev(snapshot).addresses = {{"192.168.30.201/24"}};
  rdma(snapshot).gids = {{0, "::ffff:192.168.30.201", std::string{"RoCE v2"}, {}}};
  return snapshot;
}

std::map<std::string, std::string> verdicts(const Snapshot& snapshot, const Survey& survey) {
  const auto findings = doctor::surroundings({}, snapshot, survey);
  std::map<std::string, std::string> of_rows;
  for (const doctor::Check& row : doctor::checks({}, snapshot, survey))
    of_rows[std::string{row.area}] = doctor::verdict(row, findings);
  return of_rows;
}

// Each spoils the facts of one row: they are then unknown, or not good.
struct Doubt {
  const char* area;
  const char* verdict;
  std::function<void(Snapshot&, Survey&)> how;
};

const std::vector<Doubt>& doubts() {
  static const std::vector<Doubt> kDoubts{
      {"adapters", "unknown", [](Snapshot& snapshot, Survey&) { snapshot.adapters = {}; }},
      {"adapters", "unknown",
       [](Snapshot& snapshot, Survey&) {
         adapter(snapshot).driver = Field<std::string>::unreadable(kUnread);
       }},
      {"adapters", "info", [](Snapshot& snapshot, Survey&) { adapter(snapshot).driver = {}; }},
      {"modules", "info",
       [](Snapshot& snapshot, Survey&) { module(snapshot, "rdma_cm").init = {}; }},
      {"blocks", "unknown", [](Snapshot&, Survey& survey) { survey.blocks = {}; }},
      {"blocks", "unknown",
       [](Snapshot&, Survey& survey) { survey.secure_boot = Field<bool>::unreadable(kUnread); }},
      {"links", "info", [](Snapshot& snapshot, Survey&) { netdev(snapshot).carrier = false; }},
      {"links", "unknown",
       [](Snapshot& snapshot, Survey&) {
         netdev(snapshot).carrier = Field<bool>::unreadable(kUnread);
       }},
      {"ports", "unknown", [](Snapshot& snapshot, Survey&) { rdma(snapshot).port.state = {}; }},
      {"ports", "info",
       [](Snapshot& snapshot, Survey&) { rdma(snapshot).port.state = PortState::Down; }},
      {"GIDs", "info", [](Snapshot& snapshot, Survey&) { netdev(snapshot).addresses.clear(); }},
      {"devices", "unknown",
       [](Snapshot&, Survey& survey) {
         survey.nodes.get()->front().openable = Field<bool>::unreadable(kUnread);
       }},
      {"libraries", "unknown", [](Snapshot&, Survey& survey) { survey.libraries = {}; }},
      // A vendor's library: nothing tells which provider fits.
      {"libraries", "unknown",
       [](Snapshot&, Survey& survey) { libraries(survey).verbs.front().private_abi = {}; }},
      {"memlock", "unknown", [](Snapshot&, Survey& survey) { survey.own_memlock = {}; }},
      {"memlock", "unknown",
       [](Snapshot&, Survey& survey) {
         survey.own_memlock = MemlockLimit{8 * kMiB};
         survey.may_lock_all = Field<bool>::unreadable(kUnread);
       }},
      {"memlock", "info",
       [](Snapshot&, Survey& survey) {
         survey.login_memlock = MemlockLimit{8 * kMiB, "systemd's default"};
       }},
      {"holders", "info",
       [](Snapshot& snapshot, Survey&) {
         snapshot.holders = std::vector<Holder>{{812, "job", "rocep0"}};
       }},
      // A container does not see other processes.
      {"holders", "info", [](Snapshot&, Survey& survey) { contain(survey); }},
      {"boot", "info",
       [](Snapshot& snapshot, Survey&) {
         snapshot.initramfs = Initramfs{"/boot/initrd", "/etc/modprobe.d/x.conf"};
       }},
      {"boot", "unknown",
       [](Snapshot&, Survey& survey) { survey.reloads_unread = {"reading a crontab"}; }},
      {"guest", "unknown", [](Snapshot&, Survey& survey) { survey.os = {}; }},
      {"guest", "unknown",
       [](Snapshot&, Survey& survey) {
         survey.os = OsRelease{"centos", "7", "CentOS 7"};
       }},
      {"clock", "info", [](Snapshot&, Survey& survey) { survey.clock.synchronized = false; }},
      {"clock", "unknown", [](Snapshot&, Survey& survey) { survey.clock.synchronized = {}; }}};
  return kDoubts;
}

}  // namespace

TEST_CASE("rows show the raw state, and the parts that could not be read") {
  Snapshot snapshot = ready_scene(1);
  rdma(snapshot).port.state = Field<PortState>::unreadable({110, "reading", "state"});
  Survey survey = good_survey();
  survey.nodes = Field<std::vector<DeviceNode>>::unreadable({13, "opening", "/dev/infiniband"});
  const auto rows = doctor::checks({}, snapshot, survey);
  const auto row = [&](std::string_view area) {
    return *std::find_if(rows.begin(), rows.end(),
                         [&](const doctor::Check& check) { return check.area == area; });
  };
  CHECK(row("ports").evidence.front() ==
        "rocep0s10f1: port unreadable, LINK_UP, link layer not told, netdev ens10");
  CHECK(row("ports").unread == std::vector<std::string>{"reading state: Connection timed out"});
  CHECK(row("devices").unread ==
        std::vector<std::string>{"opening /dev/infiniband: Permission denied"});
  CHECK(row("modules").evidence.front() == "vmxnet3: live, loadable, used 0x");
  CHECK(row("modules").evidence.back() == "vmw_pvrdma: live, loadable, used 0x");
  CHECK(
      row("links").evidence ==
      std::vector<std::string>{"ens10: up, carrier, MTU 1500, MAC 00:50:56:00:00:10, no address"});
}

TEST_CASE("a row is good only where its facts are known and good") {
  for (const auto& [area, verdict] : verdicts(good_snapshot(), good_survey())) {
    INFO(area);
    CHECK(verdict == "good");
  }
  for (const Doubt& doubt : doubts()) {
    Snapshot snapshot = good_snapshot();
    Survey survey = good_survey();
    doubt.how(snapshot, survey);
    INFO(doubt.area);
    CHECK(verdicts(snapshot, survey).at(doubt.area) == doubt.verdict);
  }
}

TEST_CASE("without any known fact no row is good") {
  const auto none_is_good = [](const Snapshot& snapshot, const Survey& survey) {
    for (const auto& [area, verdict] : verdicts(snapshot, survey)) {
      INFO(area);
      CHECK(verdict != "good");
    }
  };
  none_is_good({}, {});
  Snapshot snapshot = ready_scene(1);
  Survey survey;
  make_unreadable(snapshot);
  make_unreadable(survey);
  none_is_good(snapshot, survey);
  none_is_good(snapshot, {});
}

TEST_CASE("a limit of logins that is not known is no limit that pam_limits does not set") {
  Survey survey = good_survey();
  const auto told = [&] {
    for (const doctor::Check& row : doctor::checks({}, good_snapshot(), survey))
      if (row.area == "memlock") return row.evidence.back();
    return std::string{};
  };
  CHECK(told() == "logins: the limit is not known here");
  contain(survey);
  CHECK(told() == "logins: pam_limits sets no limit here");
}

TEST_CASE("in an answer without an adapter no row of the adapter's is good") {
  Snapshot snapshot = good_snapshot();
  snapshot.adapters.get()->clear();
  Survey survey = good_survey();
  survey.nodes = {};
  const auto rows = verdicts(snapshot, survey);
  CHECK(rows.at("devices") == "info");
  CHECK(rows.at("adapters") == "error");
  CHECK(rows.at("holders") == "info");
  CHECK_FALSE(rows.contains("boot"));
}

TEST_CASE("a container's files do not tell about the machine's boot") {
  Survey survey = good_survey();
  contain(survey);
  CHECK_FALSE(verdicts(good_snapshot(), survey).contains("boot"));
}

TEST_CASE("nothing reloads the driver, only where all that may do so was read") {
  const Tree tree;
  ctl::DoctorOptions options;
  options.root = tree.root();
  const auto boot_row = [&] {
    for (const doctor::Check& row :
         doctor::checks({}, good_snapshot(), probes::survey(options, Config{})))
      if (row.area == "boot") return row;
    return doctor::Check{};
  };
  CHECK(boot_row().unread.empty());
  CHECK(doctor::verdict(boot_row(), {}) == "good");
  tree.unreadable("/var/spool/cron/root");
  CHECK(doctor::verdict(boot_row(), {}) == "unknown");
  REQUIRE(boot_row().unread.size() == 1);
  CHECK(has_part(boot_row().unread.front(), "/var/spool/cron/root"));
  CHECK(std::ranges::count(boot_row().evidence, "nothing else reloads the driver") == 0);
  // A script that other users may write is not opened.
  tree.remove("/var/spool/cron/root");
  tree.file("/etc/rc.local", "modprobe nfs\n");
  REQUIRE(::chmod((tree / "/etc/rc.local").c_str(), 0777) == 0);
  CHECK(doctor::verdict(boot_row(), {}) == "unknown");
  CHECK(has_part(boot_row().unread.front(), "/etc/rc.local is not opened"));
}

TEST_CASE("RoCE v1 alone is explained") {
  Snapshot snapshot = good_snapshot();
  const auto told = [&] {
    for (const doctor::Check& row : doctor::checks({}, snapshot, good_survey()))
      if (row.area == "GIDs")
        return row.evidence.back().find("Device Protocol") != row.evidence.back().npos;
    return false;
  };
  CHECK_FALSE(told());
  rdma(snapshot).gids.front().type = std::string{"IB/RoCE v1"};
  CHECK(told());
}
