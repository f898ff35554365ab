// SPDX-License-Identifier: GPL-2.0-or-later
// The steps that each look adds to the timeline of a boot.
#include "agent/plan/history.hpp"

#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

BootTime at(int ms) { return BootTime{Milliseconds{ms}}; }

// A boot, look by look, with the verdict on each.
struct Boot {
  Timeline timeline;
  std::optional<Snapshot> before;
  void look(Snapshot now, int ms) {
    now.taken_at = at(ms);
    const Plan made = plan({}, now, long_settled(now), now.taken_at);
    const Health health = assess({}, now, made, long_settled(now), now.taken_at);
    timeline = advance(std::move(timeline), {}, before ? &*before : nullptr, now, health);
    before = std::move(now);
  }
  [[nodiscard]] const Step* step(StepKind kind, const std::string& subject = {}) const {
    return timeline.find(kind, subject);
  }
};

Snapshot without_driver() {
  Snapshot snapshot = ready_scene();
  module(snapshot, kDriverModule) = unloaded(kDriverModule);
  adapter(snapshot).driver = Field<std::string>::absent();
  adapter(snapshot).rdma_device = Field<RdmaDevice>::absent();
  netdev(snapshot).link_up = false;
  netdev(snapshot).carrier = Field<bool>::absent();
  return snapshot;
}

void give_address(Snapshot& snapshot) {
  netdev(snapshot).addresses = {{"192.168.30.201/24"}};
  rdma(snapshot).gids = {{1, "::ffff:192.168.30.201", std::string{"RoCE v2"}, {}}};
}

}  // namespace

TEST_CASE("each step has the time of the look that first saw it") {
  Boot boot;
  boot.look(without_driver(), 1000);
  Snapshot now = ready_scene();
  netdev(now).link_up = false;
  netdev(now).carrier = Field<bool>::absent();
  rdma(now).port.state = PortState::Down;
  boot.look(now, 2000);
  CHECK(boot.step(StepKind::DriverLive)->at == at(2000));
  CHECK(boot.step(StepKind::LinkUp) == nullptr);
  netdev(now).link_up = true;
  netdev(now).carrier = false;
  boot.look(now, 3000);
  CHECK(boot.step(StepKind::LinkUp, function_of(0))->at == at(3000));
  CHECK(boot.step(StepKind::Carrier) == nullptr);
  boot.look(ready_scene(), 4000);
  CHECK(boot.step(StepKind::Carrier)->at == at(4000));
  CHECK(boot.step(StepKind::PortActive)->at == at(4000));
  CHECK(boot.step(StepKind::Ready)->at == at(4000));
  CHECK(boot.step(StepKind::Address) == nullptr);
  CHECK(boot.timeline.port_changes == 1);
  CHECK(boot.timeline.kernel == "6.1.0-test");
  boot.look(ready_scene(), 5000);
  CHECK(boot.step(StepKind::Ready)->at == at(4000));
}

TEST_CASE("the first look's steps may be earlier than it, later looks' are not") {
  Boot boot;
  boot.look(without_driver(), 1000);
  CHECK(boot.step(StepKind::AdapterSeen, function_of(0))->at_or_before);
  boot.look(ready_scene(), 2000);
  CHECK_FALSE(boot.step(StepKind::Ready)->at_or_before);
  Boot late;
  late.look(ready_scene(), 9000);
  CHECK(late.step(StepKind::PortActive)->at_or_before);
  CHECK(late.step(StepKind::Ready)->at_or_before);
}

TEST_CASE("after ready only an address and its GID are added") {
  Boot boot;
  boot.look(without_driver(), 1000);
  boot.look(ready_scene(), 2000);
  Snapshot now = ready_scene(2);
  give_address(now);
  boot.look(now, 9000);
  CHECK(boot.step(StepKind::Address, function_of(0))->at == at(9000));
  CHECK(boot.step(StepKind::Gid, function_of(0))->at == at(9000));
  CHECK(boot.step(StepKind::AdapterSeen, function_of(1)) == nullptr);
  CHECK(boot.timeline.port_changes == 0);
}

TEST_CASE("a machine without adapters has no steps") {
  Boot boot;
  boot.look(ready_scene(0), 1000);
  CHECK(boot.timeline.steps.empty());
}
