// SPDX-License-Identifier: GPL-2.0-or-later
// A pass in one line: its text.
#include "agent/plan/planner.hpp"

#include <cerrno>

#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

TEST_CASE("a pass in one line: the state, and the actions") {
  Snapshot scene = ready_scene();
  CHECK(pass_line(scene, {}) == kReadyLine);
  module(scene, kDriverModule).init = ModuleInit::Coming;
  adapter(scene).driver = Field<std::string>::unreadable({EACCES, "reading", "driver"});
  netdev(scene).link_up = false;
  rdma(scene).port.state = PortState::Down;
  CHECK(pass_line(scene, plan_to_reload()) ==
        "vmw_pvrdma coming; 0000:00:10.1: driver unreadable (reading driver: Permission denied), "
        "netdev ens10 down, rocep0s10f1 port DOWN; "
        "ReloadDriver vmw_pvrdma (the port stays down)");
  module(scene, kDriverModule).init = {};
  adapter(scene).driver = {};
  adapter(scene).netdev = {};
  adapter(scene).rdma_device = {};
  CHECK(pass_line(scene, {}) ==
        "vmw_pvrdma not loaded; 0000:00:10.1: driver none, netdev none, no RDMA device; "
        "nothing to do");
  CHECK(pass_line(ready_scene(0), {}) == "vmw_pvrdma live; no adapter; nothing to do");
}
