#include "agent/executor/event_queue.hpp"

#include <cerrno>
#include <string>
#include <string_view>
#include <thread>

#include "agent/base/text.hpp"

namespace pvrdma::executor {

namespace {

constexpr Milliseconds kPatience{3000};
constexpr Milliseconds kBlindWait{500};
constexpr Milliseconds kPause{2};
// One look may see a worker before, and the next worker after, the work changes hands.
constexpr int kLooks = 2;
constexpr unsigned kKernelThread = 0x00200000;  // PF_KTHREAD, include/linux/sched.h

struct Task {
  std::string_view name;
  char state = '?';
  bool of_kernel = false;
};

// Of /proc/PID/stat, "31 (kworker/u4:2-pvrdma_event_wq) I 2 0 0 0 -1 69238880 …" (proc(5)): PID,
// name, state, parent, group, session, terminal, its group, flags. Any process may call itself as a
// kernel thread is called, with parentheses too; only the flags cannot be chosen.
Task parse_stat(std::string_view stat) {
  const auto begin = stat.find('(');
  const auto end = stat.rfind(") ");
  if (begin == std::string_view::npos || end == std::string_view::npos || end + 2 >= stat.size())
    return {};
  Task task{stat.substr(begin + 1, end - begin - 1), stat[end + 2], false};
  std::string_view rest = stat.substr(end + 2);
  constexpr int kBeforeFlags = 6;
  for (int field = 0; field < kBeforeFlags; ++field) cut(rest, ' ');
  const auto flags = number_from<unsigned>(cut(rest, ' '));
  task.of_kernel = flags && (*flags & kKernelThread) != 0;
  return task;
}

bool is_asleep(const Task& task) { return task.state == 'I' || task.state == 'S'; }
bool is_worker(const Task& task) { return task.name.starts_with("kworker/u"); }

// The second name is the one of Linux 6.9 and later, which may end after 15 characters or be whole,
// and go on with what is in hand.
bool is_rescuer(const Task& task) {
  return task.name == "pvrdma_event_wq" || task.name.starts_with("kworker/R-pvrdm");
}

// "+" names what a worker has in hand. One with another queue's work passes ours on to an idle one.
bool is_busy(const Task& task) {
  if (task.name.find('+') != std::string_view::npos) return task.name.ends_with("+pvrdma_event_wq");
  return !is_asleep(task);
}

}  // namespace

EventQueue look_at_event_queue(const Root& root) {
  const auto processes = list_processes(root);
  if (!processes) return EventQueue::Hidden;
  EventQueue seen = EventQueue::Hidden;
  for (const pid_t pid : *processes) {
    const auto stat = read_attribute(root / ("/proc/" + std::to_string(pid) + "/stat"));
    if (!stat) continue;  // it has ended
    const Task task = parse_stat(*stat);
    if (!task.of_kernel || (!is_worker(task) && !is_rescuer(task))) continue;
    if (is_busy(task)) return EventQueue::Busy;
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
