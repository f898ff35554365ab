// Every finding of the planner's, made from made-up facts: its sentences have no name left open,
// and together they are all that the catalogue has.
#include <set>

#include "agent/model/catalogue.hpp"
#include "agent/plan/findings.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

std::vector<Finding> of_the_machine(const Snapshot& snapshot) {
  const BootScript script{"/etc/rc.local", false};
  const Attempt refused{Verb::LoadModule, "ib_umad", kNow, {}, Outcome::Refused, "key"};
  return {findings::no_adapter(2),
          findings::adapter_removed({}, Milliseconds{1000}),
          findings::driver_not_shipped(snapshot),
          findings::driver_built_in("why"),
          findings::module_not_shipped("rdma_cm", snapshot, true),
          findings::module_not_shipped("mlx4_ib", snapshot, false),
          findings::initramfs_old({"/boot/initrd.img", "/etc/modprobe.d/x.conf"}, snapshot),
          findings::driver_in_use({{7, "job", "rocep0"}}, "why"),
          findings::driver_in_use({}, "why"),
          findings::holders_unknown(snapshot, "why"),
          findings::reload_forbidden("why"),
          findings::boot_script(script),
          findings::reload_waits(script, "why"),
          findings::ledger_unusable({28, "writing", "the ledger"}, "why"),
          findings::executor_stuck({Verb::LoadModule, "ib_umad", kNow, true}),
          findings::executor_missing({2, "connecting to", "the executor"}),
          findings::config_bad("file:1: key"),
          findings::config_left_out("file:1: key"),
          findings::customization_awaited("cloud-init", Milliseconds{1000}),
          findings::customization_late("cloud-init", Milliseconds{1000}),
          findings::config_matches_nothing({}),
          findings::attempt_failed(refused, {})};
}

std::vector<Finding> of_an_adapter(const Adapter& adapter) {
  const Netdev& netdev = *adapter.netdev.get();
  RdmaDevice mute = *adapter.rdma.get();
  mute.port.verbs_state = Field<std::string>::unreadable({2, "opening", "the provider"});
  const LinkOwner owner{LinkManager::Networkd, true, "/etc/systemd/network/x.network"};
  const Attempt failed{Verb::BindFunction, "0000:00:10.1", kNow, {}, Outcome::Failed, "no"};
  std::vector<Finding> found{findings::no_vmxnet3_pair(adapter),
                             findings::no_carrier(adapter, netdev),
                             findings::port_down(adapter),
                             findings::netdev_lost(adapter),
                             findings::netdev_elsewhere(adapter),
                             findings::verbs_unusable(adapter, mute),
                             findings::gid_missing(adapter, "10.0.0.1", GidType::Best),
                             findings::gid_missing(adapter, "10.0.0.1", GidType::RoceV1),
                             findings::unreadable({5, "reading", "x"}, adapter.function),
                             findings::attempt_failed(failed, adapter.function),
                             findings::giving_up("ReloadDriver", 3, false, adapter.function),
                             findings::giving_up("LoadModule", 3, true, {}),
                             findings::slow(adapter, Milliseconds{1000}),
                             findings::mtu_impossible(adapter, netdev, 9000),
                             findings::mtu_waits(adapter, netdev, 9000),
                             findings::address_duplicate(adapter, "10.0.0.1/24"),
                             findings::same_subnet(adapter, adapter, "10.0.0.1/24"),
                             findings::default_route(adapter),
                             findings::first_nic(adapter),
                             findings::address_outside(adapter, "10.0.0.1/24"),
                             findings::two_owners(adapter, owner)};
  for (const LinkOwner* who : {&owner, static_cast<const LinkOwner*>(nullptr)}) {
    found.push_back(findings::link_down_not_ours(adapter, who));
    found.push_back(findings::mtu_differs(adapter, who, 9000));
    found.push_back(findings::address_missing(adapter, who, "10.0.0.1/24"));
  }
  return found;
}

// Of the catalogue's entries that this part has.
void check_all_made(Subject subject, const std::vector<Finding>& found) {
  std::set<FindingId> made;
  for (const Finding& finding : found) {
    INFO(to_string(finding.id) << ": " << finding.summary << " " << finding.remedy);
    made.insert(finding.id);
    CHECK(finding.summary.find('{') == std::string::npos);
    CHECK(finding.remedy.find('{') == std::string::npos);
    CHECK_FALSE(finding.remedy.empty());
  }
  for (const CatalogueEntry& entry : catalogue(subject)) {
    INFO(entry.name);
    CHECK(made.count(entry.id) == 1);
  }
}

}  // namespace

TEST_CASE("every finding of the catalogue is made, and whole") {
  const Snapshot scene = ready_scene();
  check_all_made(Subject::Machine, of_the_machine(scene));
  check_all_made(Subject::Adapter, of_an_adapter(scene.adapters.get()->front()));
}
