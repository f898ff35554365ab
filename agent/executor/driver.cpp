// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/executor/driver.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "agent/base/handle.hpp"
#include "agent/executor/uverbs_access.hpp"
#include "probes/modules.hpp"
#include "probes/pci.hpp"

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

constexpr const char* kDriver = "/sys/bus/pci/drivers/vmw_pvrdma";
constexpr const char* kNoOverride = "(null)";

// Writes the text with one write(2), as each write is one request to the kernel; its errno is the
// answer.
Result<void> write_attribute(const std::filesystem::path& path, const std::string& text) {
  const Fd fd{::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW)};
  if (!fd) return fail(errno, "opening", path);
  ssize_t put = 0;
  do put = ::write(fd.get(), text.data(), text.size());
  while (put < 0 && errno == EINTR);
  if (put < 0) return fail(errno, "writing " + text + " to", path);
  return {};
}

Result<void> tell_driver(const Root& root, const char* file, const std::string& function) {
  return write_attribute(root / kDriver / file, function);
}

std::filesystem::path override_of(const Root& root, const std::string& function) {
  return probes::function_path(root, function) / "driver_override";
}

Result<void> hold_back(const Root& root, const std::string& function) {
  return write_attribute(override_of(root, function), kHeldBack);
}

bool is_held_back(const Root& root, const std::string& function) {
  return read_attribute(override_of(root, function)).value_or("") == kHeldBack;
}

// Clears only an override of this program, also one left by a killed executor; an administrator's
// override stays.
Result<void> clear_driver_override(const Root& root, const std::string& function) {
  if (!is_held_back(root, function)) return {};
  return write_attribute(override_of(root, function), "\n");
}

// The other driver to which an administrator has given the function; empty: none.
std::string given_to(const Root& root, const std::string& function) {
  const auto name = read_attribute(override_of(root, function)).value_or("");
  return name == kNoOverride || name == kHeldBack || name == kDriverModule ? "" : name;
}

// In PCI order.
Result<std::vector<std::string>> functions_to_probe(const Root& root) {
  const auto adapters = probes::find_adapters(root);
  if (!adapters) return fail(adapters.error());
  std::vector<std::string> functions;
  for (const probes::PciAdapter& adapter : *adapters)
    if (adapter.driver.value_or(kDriverModule) == kDriverModule &&
        given_to(root, adapter.function).empty())
      functions.push_back(adapter.function);
  return functions;
}

// Tries an operation twice that must bring back a driver.
OperationResult bring_back(const std::function<OperationResult()>& attempt,
                           const std::string& done_as, const std::string& lost) {
  OperationResult result = attempt();
  const std::string first = result.detail;
  const bool again = !result.good();
  if (again) result = attempt();
  result.driver_taken = true;
  if (!again) return result;
  result.detail = result.good() ? done_as + " at the second try; the first failed: " + first
                                : lost + ": " + result.detail;
  return result;
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

OperationResult bind_function(const Root& root, const std::string& function) {
  const std::string other = given_to(root, function);
  if (const auto free = clear_driver_override(root, function); !free) return failed(free.error());
  const auto driver = link_target_name(probes::function_path(root, function) / "driver");
  if (driver && *driver == kDriverModule) return already_done(function + " is bound to vmw_pvrdma");
  if (!other.empty()) return {Outcome::Failed, "driver_override gives it to " + other, EBUSY, {}};
  if (const auto quiet = await_event_queue(root); !quiet) return failed(quiet.error());
  const auto told = tell_driver(root, "bind", function);
  if (told) return done();
  OperationResult result = failed(told.error());
  if (result.code == ENODEV)
    result.detail += ": the driver's probe gave up; the kernel log tells why";
  if (result.code == EFAULT)
    result.detail +=
        ": the device did not do what the driver asked, for instance since the host offers no "
        "RoCE; the kernel log tells";
  return result;
}

OperationResult insert_driver(const Root& root, const std::function<OperationResult()>& insert) {
  const auto functions = functions_to_probe(root);
  if (!functions) return failed(functions.error());
  if (functions->empty()) return insert();
  const auto others = functions->begin() + 1;
  Result<void> ready = clear_driver_override(root, functions->front());
  for (auto function = others; function != functions->end() && ready; ++function)
    ready = hold_back(root, *function);
  OperationResult result = ready ? insert() : failed(ready.error());
  const bool inserted = result.good();
  for (auto function = others; function != functions->end(); ++function) {
    if (!inserted) {
      static_cast<void>(clear_driver_override(root, *function));
    } else if (const OperationResult bound = bind_function(root, *function); !bound.good()) {
      result.detail +=
          (result.detail.empty() ? "" : "; ") + *function + " is not bound: " + bound.detail;
    }
  }
  return result;
}

Result<std::vector<std::string>> held_back(const Root& root) {
  const auto adapters = probes::find_adapters(root);
  if (!adapters) return fail(adapters.error());
  std::vector<std::string> functions;
  for (const probes::PciAdapter& adapter : *adapters)
    if (is_held_back(root, adapter.function)) functions.push_back(adapter.function);
  return functions;
}

Result<void> free_held_back(const Root& root, const std::vector<std::string>& functions) {
  for (const std::string& function : functions)
    if (auto free = clear_driver_override(root, function); !free) return free;
  return {};
}

Result<std::vector<std::string>> free_left_held_back(const Root& root) {
  if (!is_live(probes::look_at_driver(root))) return {};
  auto functions = held_back(root);
  if (functions)
    if (auto free = free_held_back(root, *functions); !free) return fail(std::move(free.error()));
  return functions;
}

OperationResult rebind_function(
    const Root& root, const std::string& function, const std::filesystem::path& access_memo,
    const std::function<std::optional<OperationResult>()>& refused_now) {
  auto closed = close_verbs_node(root, function, access_memo);
  if (!closed) return failed(closed.error());
  std::optional<UverbsAccess>& access = *closed;
  std::optional<OperationResult> refused = refused_now();
  if (!refused)
    if (auto told = tell_driver(root, "unbind", function); !told) refused = failed(told.error());
  if (refused) {
    if (access)
      if (auto opened = access->open(); !opened)
        refused->detail += "; and its verbs node stays closed: " + opened.error().message();
    return std::move(*refused);
  }
  if (access) access->gone();
  // Another process may have bound the function first; it was still rebound.
  const auto bind = [&] {
    OperationResult result = bind_function(root, function);
    return result.good() ? done() : result;
  };
  return bring_back(bind, "bound", function + " was unbound and could not be bound again");
}

OperationResult reload_driver(const DriverModule& module) {
  if (OperationResult likely = module.rehearse(); !likely.good()) {
    likely.detail = "not removed, as it could not be inserted again: " + likely.detail;
    return likely;
  }
  if (auto no = module.refused_now()) return std::move(*no);
  OperationResult removal = module.remove();
  if (!removal.good()) return removal;
  if (removal.outcome != Outcome::Done) return module.insert();
  OperationResult result = bring_back(module.insert, "inserted",
                                      "vmw_pvrdma was removed and could not be inserted again");
  // Another process may have inserted the module first; it was still reloaded.
  if (result.outcome == Outcome::AlreadyDone) result.outcome = Outcome::Done;
  return result;
}

}  // namespace pvrdma::executor
