// SPDX-License-Identifier: GPL-2.0-or-later
// The driver's event queue, seen by its workers in a made-up /proc.
#include <cerrno>

#include "agent/executor/driver.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tree.hpp"

namespace pvrdma::executor {

namespace {

struct EventQueueFixture {
  test::Tree tree;
  int next_pid = 10;

  EventQueueFixture() {
    user_process("systemd", 'S');
    task("kworker/0:1H-kblockd", 'R');  // of a bound pool
  }
  void task(const std::string& name, char state, const std::string& flags = "69238880") {
    const std::string pid = std::to_string(next_pid++);
    tree.file("/proc/" + pid + "/stat",
              pid + " (" + name + ") " + state + " 2 0 0 0 -1 " + flags + " 0 0 0\n");
  }
  void user_process(const std::string& name, char state) { task(name, state, "4194304"); }
  EventQueue look() const { return look_at_event_queue(tree.root()); }
};

}  // namespace

TEST_CASE_METHOD(EventQueueFixture, "event queue: idle while its workers sleep") {
  task("kworker/u4:0-pvrdma_event_wq", 'I');
  task("kworker/u4:1", 'S');  // the name before Linux 4.14
  task("pvrdma_event_wq", 'I');
  task("kworker/R-pvrdma_event_wq", 'I');  // Linux 6.12
  CHECK(look() == EventQueue::Idle);
  CHECK(await_event_queue(tree.root()).has_value());
}

TEST_CASE_METHOD(EventQueueFixture,
                 "event queue: busy from the wake-up of a worker to the last event") {
  task("kworker/u4:0-events_unbound", 'I');
  SECTION("woken, with the event still queued") { task("kworker/u4:1-writeback", 'R'); }
  SECTION("in the handler") { task("kworker/u4:1+pvrdma_event_wq", 'R'); }
  SECTION("blocked in it") { task("kworker/u4:1+pvrdma_event_wq", 'D'); }
  SECTION("asleep in it") { task("kworker/u4:1+pvrdma_event_wq", 'S'); }
  SECTION("creating another worker first") { task("kworker/u4:1-events_unbound", 'D'); }
  SECTION("by its rescuer") { task("pvrdma_event_wq", 'R'); }
  SECTION("by its rescuer, of Linux 6.9") { task("kworker/R-pvrdm", 'D'); }
  SECTION("by its rescuer, of Linux 6.12") { task("kworker/R-pvrdma_event_wq", 'D'); }
  SECTION("in its rescuer") { task("kworker/R-pvrdma_event_wq+pvrdma_event_wq", 'S'); }
  CHECK(look() == EventQueue::Busy);
}

TEST_CASE_METHOD(EventQueueFixture, "event queue: another queue's work does not count") {
  task("kworker/u4:0-pvrdma_event_wq", 'I');
  task("kworker/u4:1+flush-8:0", 'D');
  task("kworker/u4:2+events_unbound", 'R');
  task("a name) R 2 (", 'R');
  CHECK(look() == EventQueue::Idle);
}

TEST_CASE_METHOD(EventQueueFixture, "event queue: a process is no worker, whatever its name") {
  task("kworker/u4:0-pvrdma_event_wq", 'I');
  user_process("kworker/u8:9", 'R');
  user_process("kworker/u8:9+pvrdma_event_wq", 'D');
  user_process("pvrdma_event_wq", 'R');
  user_process("kworker/R-pvrdm", 'R');
  // A name that ends like the text after a name.
  user_process("kworker/u8:9) R 2 0 0 0 -1 69238880 (", 'R');
  user_process("x) I 2 0 0 0 -1 69238880 0 (kworker/u8:1", 'R');
  task("kworker/u8:9", 'R', "");  // cut off: it may not be the kernel's
  CHECK(look() == EventQueue::Idle);
  CHECK(await_event_queue(tree.root()).has_value());
}

TEST_CASE_METHOD(EventQueueFixture, "event queue: invisible workers do not count as idle") {
  CHECK(look() == EventQueue::Hidden);
  CHECK(look_at_event_queue(Root{"/nonexistent"}) == EventQueue::Hidden);
  const BootTime began = BootClock::now();
  CHECK(await_event_queue(tree.root()).has_value());
  CHECK(BootClock::now() - began >= Milliseconds{500});
}

TEST_CASE_METHOD(EventQueueFixture, "event queue: a worker that never gets done is an error") {
  task("kworker/u4:1+pvrdma_event_wq", 'D');
  const auto waited = await_event_queue(tree.root());
  REQUIRE_FALSE(waited.has_value());
  CHECK(waited.error().code == ETIMEDOUT);
}

}  // namespace pvrdma::executor
