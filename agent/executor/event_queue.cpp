// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/executor/event_queue.hpp"

#include <cerrno>
#include <string>
#include <thread>

namespace pvrdma::executor {

namespace {

constexpr Milliseconds kPatience{3000};
constexpr Milliseconds kBlindWait{500};
constexpr Milliseconds kPause{2};
// While work moves from one worker to another, a single look may see both workers idle.
constexpr int kLooks = 2;
constexpr unsigned kKernelThread = 0x00200000;  // PF_KTHREAD, include/linux/sched.h

bool is_asleep(const ProcessStat& task) { return task.state == 'I' || task.state == 'S'; }
bool is_worker(const ProcessStat& task) { return task.name.starts_with("kworker/u"); }

// The second name is that of Linux 6.9 and later. It may be cut after 15 characters, and the name
// of the present work may follow it.
bool is_rescuer(const ProcessStat& task) {
  return task.name == "pvrdma_event_wq" || task.name.starts_with("kworker/R-pvrdm");
}

// After "+" follows the queue whose work the worker does. A worker with work of another queue
// passes work of ours on to an idle worker.
bool is_busy(const ProcessStat& task) {
  if (task.name.find('+') != std::string::npos) return task.name.ends_with("+pvrdma_event_wq");
  return !is_asleep(task);
}

}  // namespace

EventQueue look_at_event_queue(const Root& root) {
  const auto processes = list_processes(root);
  if (!processes) return EventQueue::Hidden;
  EventQueue seen = EventQueue::Hidden;
  for (const pid_t pid : *processes) {
    const auto task = process_stat(root, pid);
    if (!task) continue;  // the task has ended
    const bool of_kernel = (task->flags & kKernelThread) != 0;
    if (!of_kernel || (!is_worker(*task) && !is_rescuer(*task))) continue;
    if (is_busy(*task)) return EventQueue::Busy;
    seen = EventQueue::Idle;
  }
  return seen;
}

Result<void> await_event_queue(const Root& root) {
  const BootTime began = BootClock::now();
  int idle = 0;
  for (;;) {
    const EventQueue seen = look_at_event_queue(root);
    const Milliseconds waited = BootClock::now() - began;
    idle = seen == EventQueue::Idle ? idle + 1 : 0;
    if (idle == kLooks || (seen == EventQueue::Hidden && waited >= kBlindWait)) return {};
    if (waited >= kPatience)
      return fail(ETIMEDOUT, "waiting for the workqueue of vmw_pvrdma", "pvrdma_event_wq");
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace pvrdma::executor
