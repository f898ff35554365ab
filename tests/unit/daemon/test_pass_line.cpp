// A pass in the log at level debug: what it says, and that a quiet system says it once.
#include "agent/daemon/pass_line.hpp"

#include <cerrno>

#include "tests/unit/catch.hpp"
#include "tests/unit/logged.hpp"
#include "tests/unit/notified.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

constexpr Milliseconds kNext{15'000};
const std::string kReady =
    "vmw_pvrdma live; 0000:00:10.1: driver vmw_pvrdma, netdev ens10 up, carrier, "
    "rocep0s10f1 port ACTIVE; nothing to do";

Plan plan_to_reload() {
  Plan plan;
  plan.actions.push_back({ReloadDriver{}, "the port stays down"});
  return plan;
}

}  // namespace

TEST_CASE("a pass in one line: what was seen, and what is to be done") {
  Snapshot scene = ready_scene();
  CHECK(pass_line(scene, {}) == kReady);
  module(scene, kDriverModule).init = ModuleInit::Coming;
  adapter(scene).driver = Field<std::string>::unreadable({EACCES, "reading", "driver"});
  netdev(scene).up = false;
  rdma(scene).port.state = std::string{"DOWN"};
  CHECK(pass_line(scene, plan_to_reload()) ==
        "vmw_pvrdma coming; 0000:00:10.1: driver unreadable (reading driver: Permission denied), "
        "netdev ens10 down, rocep0s10f1 port DOWN; "
        "ReloadDriver vmw_pvrdma (the port stays down)");
  module(scene, kDriverModule).init = {};
  adapter(scene).driver = {};
  adapter(scene).netdev = {};
  adapter(scene).rdma = {};
  CHECK(pass_line(scene, {}) ==
        "vmw_pvrdma not loaded; 0000:00:10.1: driver none, netdev none, no RDMA device; "
        "nothing to do");
  CHECK(pass_line(ready_scene(0), {}) == "vmw_pvrdma live; no adapter; nothing to do");
}

TEST_CASE("a pass is logged at debug alone, where it is news or acts") {
  const ErrorOutput output;
  Logged logged;
  PassLog log;
  log.passed(ready_scene(), plan_to_reload(), true, kNext);
  CHECK(logged.entries().empty());
  log::set_level(log::Level::Debug);
  log.passed(ready_scene(), {}, true, kNext);
  CHECK(logged.messages() ==
        std::vector<std::string>{"MESSAGE=" + kReady + "; next look in 15000 ms"});
  // Nothing new, but for the time until the next look.
  log.passed(ready_scene(), {}, true, Milliseconds{700});
  CHECK(logged.entries().size() == 1);
  Snapshot down = ready_scene();
  netdev(down).carrier = false;
  log.passed(down, {}, true, kNext);
  CHECK(logged.entries().size() == 2);
  // The same action again: news each time that it is carried out.
  for (const bool acts : {true, true, true, false}) log.passed(down, plan_to_reload(), acts, kNext);
  CHECK(logged.entries().size() == 5);
  CHECK(logged.entries().back().at(1) == "PRIORITY=7");
}
