// SPDX-License-Identifier: GPL-2.0-or-later
// Every finding of the planner, made from made-up facts or by the rules on made-up machines: no
// name in its sentences is left open, and together they are all of the catalogue's.
#include <set>

#include "agent/model/catalogue.hpp"
#include "agent/plan/findings.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

std::vector<Finding> of_the_machine(const Snapshot& snapshot) {
  const Attempt refused{Verb::LoadModule, "ib_umad", kNow, {}, Outcome::Refused, "key"};
  return {findings::adapter_removed({}, Milliseconds{1000}),
          findings::driver_not_shipped(snapshot),
          findings::module_not_shipped("rdma_cm", snapshot, true),
          findings::module_not_shipped("mlx4_ib", snapshot, false),
          findings::block_unknown("rdma_cm", {13, "reading", "/etc/modprobe.d/x.conf"}),
          findings::initramfs_old({"/boot/initrd.img", "/etc/modprobe.d/x.conf"}, snapshot),
          findings::driver_in_use({{7, "job", "rocep0"}}, "why"),
          findings::driver_in_use({}, "why"),
          findings::holders_unknown(snapshot, "why"),
          findings::look_stuck(kNow),
          findings::config_bad("file:1: key", false),
          findings::config_bad("file:1: key", true),
          findings::config_left_out("file:1: key"),
          findings::customization_awaited("cloud-init", Milliseconds{1000}),
          findings::customization_late("cloud-init", Milliseconds{1000}),
          findings::attempt_failed(refused, {})};
}

std::vector<Finding> of_an_adapter(const Adapter& adapter) {
  const Netdev& netdev = *adapter.netdev.get();
  const LinkOwner owner{LinkManager::Networkd, true, "/etc/systemd/network/x.network"};
  const Attempt failed{Verb::BindFunction, "0000:00:10.1", kNow, {}, Outcome::Failed, "no"};
  const Attempt refused{Verb::ConfigureLink, "0000:00:10.1",        kNow, {},
                        Outcome::NotAllowed, "MTU 9000 is not what"};
  std::vector<Finding> found{findings::port_down(adapter, true),
                             findings::netdev_lost(adapter),
                             findings::gid_missing(adapter, "10.0.0.1", GidType::Best),
                             findings::gid_missing(adapter, "10.0.0.1", GidType::RoceV1),
                             findings::unreadable({5, "reading", "x"}, adapter.function),
                             findings::attempt_failed(failed, adapter.function),
                             findings::attempt_failed(refused, adapter.function),
                             findings::giving_up("ReloadDriver", 3, false, adapter.function),
                             findings::giving_up("LoadModule", 3, true, {}),
                             findings::trying_slowly("ConfigureLink", 5, {}),
                             findings::slow(adapter, Milliseconds{1000}),
                             findings::mtu_impossible(adapter, netdev, 9000),
                             findings::mtu_waits(adapter, netdev, 9000, {}),
                             findings::address_waits(adapter, "10.0.0.1/8", "removed", {}),
                             findings::address_waits(adapter, "fd00::1/64", "duplicate", {}),
                             findings::same_subnet(adapter, adapter, "10.0.0.1/24"),
                             findings::two_owners(adapter, owner)};
  for (const LinkOwner* who : {&owner, static_cast<const LinkOwner*>(nullptr)}) {
    found.push_back(findings::link_down_not_ours(adapter, who));
    found.push_back(findings::mtu_differs(adapter, who, 9000));
    found.push_back(findings::address_missing(adapter, who, "10.0.0.1/24"));
  }
  return found;
}

// Four adapters with one fault each, and an executor that neither answers nor can be reached.
void find_amiss(std::vector<Finding>& found) {
  Snapshot scene = ready_scene(4);
  rdma(scene, 0).port.verbs_state = Field<PortState>::unreadable({2, "opening", "the provider"});
  netdev(scene, 0).carrier = false;
  netdev(scene, 0).default_route = true;
  netdev(scene, 0).addresses = {{"10.0.0.1/24", false, false, true}};
  scene.first_nic = adapter(scene, 0).net_function;
  adapter(scene, 1).net_driver = {};
  adapter(scene, 2).netdev = {};
  module(scene, "ib_umad") = unloaded("ib_umad");
  module(scene, "mlx4_ib") = unloaded("mlx4_ib");
  module(scene, "mlx4_ib").blocked = std::string{"\"blacklist mlx4_ib\" in a file"};
  adapter(scene, 3).driver = std::string{"vfio-pci"};
  scene.boot_scripts = {{"/etc/rc.local", true}};
  Config config;
  config.adapters = {{{{}, function_of(0), {}}, Manage::Auto, {}, {"192.168.30.201/24"}}};
  History history = long_settled(scene);
  history.busy = CallUnderWay{LoadModule{"ib_umad"}, kNow, true};
  history.executor_missing = Error{2, "connecting to", "the executor"};
  for (Finding& finding : plan(config, scene, history, kNow).findings)
    found.push_back(std::move(finding));
}

// A requested reload that is forbidden.
void find_refusal(std::vector<Finding>& found, const Snapshot& scene, const Config& config = {}) {
  History history = long_settled(scene);
  history.reload_asked = kNow;
  for (Finding& finding : plan(config, scene, history, kNow).findings)
    found.push_back(std::move(finding));
}

std::vector<Finding> of_the_rules() {
  std::vector<Finding> found;
  find_amiss(found);
  Config config;
  config.readiness.adapters = 2;
  config.adapters = {{{{}, "0000:99:00.1", {}}, Manage::Auto, {}, {}}};
  config.modules.reload = ReloadPolicy::Never;
  for (const Finding& finding : plan_settled(ready_scene(0), config).findings)
    found.push_back(finding);
  find_refusal(found, ready_scene(), config);
  Snapshot scene = ready_scene();
  scene.ledger_error = Error{28, "writing", "the ledger"};
  find_refusal(found, scene);
  scene = ready_scene();
  scene.boot_scripts = {{"/etc/rc.local", false}};
  find_refusal(found, scene);
  scene = ready_scene(2);
  module(scene, kDriverModule).init = ModuleInit::BuiltIn;
  module(scene, kDriverModule).refcount = {};
  find_refusal(found, scene);
  return found;
}

// Checks that every catalogue entry of this subject was made.
void check_all_made(Subject subject, std::vector<Finding> found) {
  for (Finding& finding : of_the_rules()) found.push_back(std::move(finding));
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

TEST_CASE("every finding of the catalogue is made, and complete") {
  const Snapshot scene = ready_scene();
  check_all_made(Subject::Machine, of_the_machine(scene));
  check_all_made(Subject::Adapter, of_an_adapter(scene.adapters.get()->front()));
}
