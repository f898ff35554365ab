// SPDX-License-Identifier: GPL-2.0-or-later
// The conclusions of doctor: each finding of the surroundings comes from its own cause and from no
// other.
#include <algorithm>
#include <functional>
#include <set>

#include "agent/base/text.hpp"
#include "agent/model/catalogue.hpp"
#include "agent/tools/doctor/checks.hpp"
#include "agent/tools/doctor/support_matrix.hpp"
#include "agent/tools/doctor/surroundings.hpp"
#include "probes/recipe/places.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"
#include "tests/unit/tools/doctor/doctor_scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

std::vector<FindingId> ids(const std::vector<Finding>& findings) {
  std::vector<FindingId> all;
  for (const Finding& finding : findings) {
    CHECK(finding.summary.find('{') == std::string::npos);
    CHECK(finding.remedy.find('{') == std::string::npos);
    all.push_back(finding.id);
  }
  return all;
}

struct Spoilt {
  std::vector<FindingId> ids;  // expected findings
  std::function<void(Snapshot&, Survey&)> how;
};

const std::vector<Spoilt>& spoilt() {
  static const std::vector<Spoilt> kSpoilt{
      {{}, [](Snapshot&, Survey&) {}},
      {{FindingId::NoRdmaFunction},
       [](Snapshot& snapshot, Survey&) { snapshot.adapters.get()->clear(); }},
      {{FindingId::NoRdmaFunction},
       [](Snapshot& snapshot, Survey& survey) {
         snapshot.adapters.get()->clear();
         survey.vmxnet3 = std::vector<std::string>{};
       }},
      {{FindingId::NoRdmaFunction},
       [](Snapshot& snapshot, Survey& survey) {
         snapshot.adapters.get()->clear();
         survey.vmxnet3 = std::vector<std::string>{};
         survey.vendor = std::string{"Dell Inc."};
       }},
      {{FindingId::NodesMissing}, [](Snapshot&, Survey& survey) { survey.nodes = {}; }},
      {{FindingId::NodesMissing},
       [](Snapshot&, Survey& survey) {
         contain(survey);
         std::erase_if(*survey.nodes.get(),
                       [](const DeviceNode& node) { return node.name == "rdma_cm"; });
       }},
      {{FindingId::NodesClosed},
       [](Snapshot&, Survey& survey) { survey.nodes.get()->front().openable = false; }},
      {{FindingId::VerbsMissing},
       [](Snapshot&, Survey& survey) { libraries(survey).verbs.clear(); }},
      {{FindingId::ProviderMissing},
       [](Snapshot&, Survey& survey) { libraries(survey).providers.clear(); }},
      {{FindingId::ProviderMissing},
       [](Snapshot&, Survey& survey) { libraries(survey).driver_file = {}; }},
      {{FindingId::ProviderMismatch},
       [](Snapshot&, Survey& survey) { libraries(survey).verbs.front().private_abi = 57U; }},
      {{FindingId::VendorLibraries},
       [](Snapshot&, Survey& survey) {
         libraries(survey).vendor = {"package libibverbs1 51mlnx1-1.51258"};
       }},
      // OFED's tools alone shadow no library.
      {{}, [](Snapshot&, Survey& survey) { libraries(survey).vendor = {"/opt/mellanox"}; }},
      {{FindingId::ProviderMissing, FindingId::VendorLibraries},
       [](Snapshot&, Survey& survey) {
         libraries(survey).vendor = {"/opt/mellanox"};
         libraries(survey).providers.clear();
       }},
      {{FindingId::MemlockLow},
       [](Snapshot&, Survey& survey) { survey.own_memlock = MemlockLimit{8 * kMiB}; }},
      {{},
       [](Snapshot&, Survey& survey) {
         survey.own_memlock = MemlockLimit{8 * kMiB};
         survey.may_lock_all = true;
       }},
      {{FindingId::MemlockLow},
       [](Snapshot&, Survey& survey) {
         contain(survey);
         survey.own_memlock = MemlockLimit{0};
       }},
      // Its limit is slurmd's or that of the submitting shell, also in a container.
      {{FindingId::MemlockLow},
       [](Snapshot&, Survey& survey) {
         contain(survey);
         survey.in_slurm_job = true;
         survey.own_memlock = MemlockLimit{0};
       }},
      {{}, [](Snapshot&, Survey& survey) { survey.own_memlock = MemlockLimit{2048 * kMiB}; }},
      {{FindingId::NoSuchUnit, FindingId::MemlockLow},
       [](Snapshot&, Survey& survey) {
         survey.unit_memlocks = {{"nosuch.service", {}},
                                 {"slurmd.service", MemlockLimit{8 * kMiB}},
                                 {"kubelet.service", MemlockLimit{}}};
       }},
      {{FindingId::MemlockLow},
       [](Snapshot&, Survey& survey) {
         survey.login_memlock = MemlockLimit{64 * kMiB, "/etc/security/limits.conf:3"};
       }},
      {{FindingId::ModuleBlocked, FindingId::ModuleBlocked},
       [](Snapshot&, Survey& survey) {
         survey.blocks = std::vector<ModuleBlock>{{"vmw_pvrdma", "how"}, {"ib_umad", "how"}};
       }},
      {{FindingId::FunctionClaimed},
       [](Snapshot&, Survey& survey) {
         survey.claims = std::vector<FunctionClaim>{{"vfio-pci", "15ad:07b0", "how"}};
       }},
      {{FindingId::ProbeFailed},
       [](Snapshot& snapshot, Survey& survey) {
         adapter(snapshot).driver = {};
         survey.complaints = {{DriverComplaint::Cause::NoRoce, function_of(0), "line"}};
       }},
      // The agent has bound the function since.
      {{},
       [](Snapshot&, Survey& survey) {
         survey.complaints = {{DriverComplaint::Cause::Order, function_of(0), "line"}};
       }},
      {{FindingId::ModuleUnresolved},
       [](Snapshot& snapshot, Survey& survey) {
         module(snapshot, kDriverModule).init = {};
         survey.complaints = {{DriverComplaint::Cause::MissingSymbol, "", "line"}};
       }},
      {{FindingId::DriverUnsigned}, [](Snapshot&, Survey& survey) { survey.secure_boot = true; }},
      {{},
       [](Snapshot&, Survey& survey) {
         survey.secure_boot = true;
         survey.driver_signer = std::string{"Canonical"};
       }},
      {{FindingId::GuestUnlisted},
       [](Snapshot&, Survey& survey) {
         survey.os = OsRelease{"debian", "12", "Debian GNU/Linux 12"};
       }},
      {{FindingId::MixedPassthrough},
       [](Snapshot&, Survey& survey) {
         survey.mellanox = std::vector<std::string>{"0000:0b:00.0"};
       }},
      {{FindingId::ClockOff},
       [](Snapshot&, Survey& survey) { survey.clock.off_rtc_seconds = -3600; }},
      {{}, [](Snapshot&, Survey& survey) { survey.clock.off_rtc_seconds = 2; }},
      {{FindingId::DriverCrashed},
       [](Snapshot&, Survey& survey) {
         survey.crash = KernelCrash{"BUG: unable", true};
       }},
      {{FindingId::KernelCrashed}, [](Snapshot&, Survey& survey) { survey.crash = KernelCrash{}; }},
      {{FindingId::ContainerNetwork},
       [](Snapshot& snapshot, Survey& survey) {
         contain(survey);
         adapter(snapshot).netdev = {};
       }},
      {{FindingId::ReloadElsewhere},
       [](Snapshot& snapshot, Survey& survey) {
         snapshot.boot_scripts = {{"/etc/rc.local", true}};
         survey.reloads = {{"/etc/rc.local", 3, "modprobe vmw_pvrdma", "run at every boot", true},
                           {"/etc/udev/rules.d/a.rules", 1, "RUN", "run by udev", false},
                           {"/etc/udev/rules.d/a.rules", 2, "RUN", "run by udev", false}};
       }},
      {{},
       [](Snapshot&, Survey& survey) {
         survey.reloads = {{"/usr/lib/systemd/system-sleep/rdma", 1, "modprobe -r vmw_pvrdma",
                            probes::kRunAtSleep, false}};
       }},
      {{},
       [](Snapshot&, Survey& survey) {
         contain(survey);
         survey.reloads = {{"/etc/cron.d/a", 1, "modprobe", "run by cron", false}};
       }},
      {{FindingId::LinkProfile, FindingId::LinkProfile, FindingId::LinkProfile,
        FindingId::LinkProfile},
       [](Snapshot&, Survey& survey) {
         survey.refused_profiles = {"/etc/NetworkManager/system-connections/a"};
         survey.foreign_macs = {{"/etc/netplan/a.yaml", {"02:00:00:00:00:01"}}};
         survey.profiles = {{"ens11", {{"a", 1}, {"b", 0}}}, {"ens12", {{"a", 0}, {"b", 0}}}};
       }},
      // Outside of a container the agent tells that.
      {{}, [](Snapshot& snapshot, Survey&) { adapter(snapshot).netdev = {}; }},
      // An unreadable field is no finding.
      {{}, [](Snapshot&, Survey& survey) { make_unreadable(survey); }}};
  return kSpoilt;
}

}  // namespace

TEST_CASE("each fault has its finding, and no other") {
  std::set<std::string> made;
  for (const Spoilt& one : spoilt()) {
    Snapshot snapshot = ready_scene(2);
    Survey survey = good_survey();
    one.how(snapshot, survey);
    const auto findings = doctor::surroundings({}, snapshot, survey);
    CHECK(ids(findings) == one.ids);
    for (const Finding& finding : findings) made.insert(finding.summary);
    // Making the rows never fails, and each finding belongs to a row.
    const auto rows = doctor::checks({}, snapshot, survey);
    for (const Finding& finding : findings)
      CHECK(std::any_of(rows.begin(), rows.end(), [&](const doctor::Check& row) {
        return concerns(finding.id, row.concern);
      }));
  }
  CHECK(made.size() == 35);
}

TEST_CASE("without an RDMA function: the hypervisor, and the NICs of the VM") {
  Snapshot snapshot = ready_scene(1);
  snapshot.adapters.get()->clear();
  Survey survey = good_survey();
  const auto summary = [&] { return doctor::surroundings({}, snapshot, survey).front().summary; };
  CHECK(summary().find("vmxnet3 at 0000:00:0f.0") != std::string::npos);
  survey.vmxnet3 = std::vector<std::string>{};
  CHECK(summary().find("nor any vmxnet3 NIC") != std::string::npos);
  survey.vendor = Field<std::string>{};
  CHECK(summary().find("nor any vmxnet3 NIC") != std::string::npos);
  survey.vendor = std::string{"QEMU"};
  CHECK(summary().find("no VMware VM (QEMU)") != std::string::npos);
  // Without DMI systemd's answer counts; the vSphere administrator then never has to act.
  survey.vendor = Field<std::string>{};
  survey.vmxnet3 = std::vector<std::string>{"0000:00:0f.0"};
  survey.virtualization = std::string{"vmware"};
  CHECK(summary().find("vmxnet3 at") != std::string::npos);
  for (const char* name : {"kvm", "qemu", "none"}) {
    survey.virtualization = std::string{name};
    const Finding found = doctor::surroundings({}, snapshot, survey).front();
    CHECK(found.summary.find("no VMware VM") != std::string::npos);
    CHECK(found.remedy.find("an adapter of vSphere's") != std::string::npos);
    CHECK(found.actor == Actor::Guest);
  }
}

TEST_CASE("a container of Apptainer has the limits of the shell that starts it") {
  Survey survey = good_survey();
  survey.container = std::string{"apptainer"};
  survey.own_memlock = MemlockLimit{0};
  survey.nodes = std::vector<DeviceNode>{};
  const auto findings = doctor::surroundings({}, ready_scene(1), survey);
  REQUIRE(ids(findings) == std::vector{FindingId::NodesMissing, FindingId::MemlockLow});
  CHECK(has_part(joined(commands_of(findings.front())), "apptainer run --bind /dev/infiniband"));
  CHECK(has_part(findings.back().remedy, "the host's /etc/security/limits.d"));
  CHECK(has_part(joined(commands_of(findings.back())), "/etc/security/limits.d"));
}

TEST_CASE("VMware's list of guests") {
  const auto support = [](const char* id, const char* version, const char* kernel = "5.15.0") {
    return support_of({id, version, ""}, kernel);
  };
  CHECK(support("ubuntu", "22.04") == Support::RoceV2);
  CHECK(support("ubuntu", "16.04") == Support::RoceV2);
  CHECK(support("ubuntu", "14.04") == Support::RoceV1);
  CHECK(support("ubuntu", "23.10") == Support::None);
  CHECK(support("ubuntu", "21.04") == Support::None);
  CHECK(support("rhel", "7.2") == Support::RoceV1);
  CHECK(support("rhel", "7.3") == Support::RoceV2);
  CHECK(support("rhel", "9.4") == Support::RoceV2);
  CHECK(support("rhel", "10.0") == Support::NoDriver);
  CHECK(support("centos", "10") == Support::NoDriver);
  CHECK(support("rocky", "9.5") == Support::RoceV2);
  CHECK(support("almalinux", "10.1") == Support::NoDriver);
  CHECK(support("centos", "7") == Support::Unknown);
  CHECK(support("centos", "8") == Support::RoceV2);
  CHECK(support("sles", "12.1") == Support::RoceV1);
  CHECK(support("sles", "11.4") == Support::None);
  CHECK(support("ol", "7.9", "4.14.35-1818.el7uek.x86_64") == Support::RoceV2);
  CHECK(support("ol", "7.9", "4.1.12-61.el7uek.x86_64") == Support::RoceV1);
  CHECK(support("ol", "7.9", "3.10.0-1160.el7.x86_64") == Support::None);
  CHECK(support("photon", "3.0") == Support::RoceV2);
  CHECK(support("rhel", "") == Support::Unknown);
  CHECK(support("debian", "12") == Support::None);
}
