// SPDX-License-Identifier: GPL-2.0-or-later
// Operations on vmw_pvrdma: binding and unbinding a function by sysfs
// (Documentation/ABI/testing/sysfs-bus-pci; Linux drivers/base/bus.c), inserting and reloading the
// driver.
//
// The bind and unbind files have mode 0200 and belong to root: uid 0 suffices, without
// capabilities. The caller must have asked the guard; an unbind asks it again after closing the
// node. Functions are probed one by one, each with the driver's event queue empty: a plain
// insertion would probe all of them in a row, which may crash the kernel (EventQueue).
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/file.hpp"
#include "agent/model/field.hpp"
#include "agent/model/operation_result.hpp"

namespace pvrdma::executor {

// Watches the workqueue on which vmw_pvrdma handles netdev events: no function may be probed before
// it is empty.
//
// At the end of a probe the driver registers a netdev notifier, and the kernel replays REGISTER and
// UP of every netdev to it; the driver queues them on "pvrdma_event_wq" and handles them later. A
// function that is still in its probe then is in the driver's list, but its registers are not
// mapped yet. REGISTER gives that function its netdev, and UP writes through the missing mapping:
// an oops that leaves the driver's mutex locked for good (Linux 6.1 and 6.12
// drivers/infiniband/hw/vmw_pvrdma/pvrdma_main.c, pvrdma_netdevice_event_work(); net/core/dev.c,
// register_netdevice_notifier()). So with two adapters whose links are up, every modprobe of the
// driver, which probes one right after the other, may crash the kernel.
//
// The driver does not report that the queue is empty, but its workers show it. The queue is unbound
// and ordered, so from the moment in which an event is queued until the last is handled, a
// "kworker/u…" is runnable, or blocked with "+pvrdma_event_wq" in its name, or the queue's rescuer
// is awake (kernel/workqueue.c: insert_work(), wq_worker_comm() since Linux 4.18, init_rescuer()).

enum class EventQueue {
  Idle,
  Busy,    // or a worker is about to start work, perhaps of another queue
  Hidden,  // no worker is visible: proc(5) with hidepid=
};

[[nodiscard]] EventQueue look_at_event_queue(const Root& root);

// Returns once the queue was idle in two looks. If no worker is visible, returns after half a
// second, a thousand times longer than the events take. ETIMEDOUT after three seconds: its worker
// gets no CPU, or died in an oops.
[[nodiscard]] Result<void> await_event_queue(const Root& root);

// Says how to open a verbs node that was left closed. The file keeps the name that earlier versions
// gave it, as their executor may have left one.
inline constexpr const char* kAccessMemo = "/run/pvrdma-agent-executor/door";

// The driver_override of a function that is held back from being probed. No driver has this name.
inline constexpr const char* kHeldBack = "pvrdma-agent-waits";

// Releases a function that was held back, also by a killed executor, and binds it. Waits for the
// driver's event queue first (ETIMEDOUT). ENODEV in a Failed result: the driver's probe gave up,
// for instance since vmxnet3 has not registered the netdev of function 0 yet.
[[nodiscard]] OperationResult bind_function(const Root& root, const std::string& function);

// Calls insert(), which may be a reload, while all but the first function of vmw_pvrdma are held
// back, then binds these one by one in PCI order. Leaves out functions that an administrator has
// given to another driver (driver_override). If a function cannot be held back, insert() is not
// called. The outcome is that of insert(), and the detail names each function that could not be
// bound.
[[nodiscard]] OperationResult insert_driver(const Root& root,
                                            const std::function<OperationResult()>& insert);

// The functions that the initramfs or a killed executor has left held back, in PCI order.
[[nodiscard]] Result<std::vector<std::string>> held_back(const Root& root);
// Releases them without binding them.
[[nodiscard]] Result<void> free_held_back(const Root& root,
                                          const std::vector<std::string>& functions);
// Releases and yields all of them if the driver has finished its load. Otherwise none: a modprobe
// by udev would probe them in a row, so they wait for insert_driver() or bind_function().
[[nodiscard]] Result<std::vector<std::string>> free_left_held_back(const Root& root);

// `refused_now` looks again and asks the guard again; after a refusal the node is opened again and
// nothing has changed. After an unbind (`driver_taken`) the bind is tried twice, and its failure
// says that the function has no driver. Blocks, and cannot be killed, while a process holds the
// device that opened it despite the closed node.
[[nodiscard]] OperationResult rebind_function(
    const Root& root, const std::string& function, const std::filesystem::path& access_memo,
    const std::function<std::optional<OperationResult>()>& refused_now);

// The steps of a reload, as functions, so that tests can check their order without a driver.
struct DriverModule {
  std::function<OperationResult()> rehearse;  // Done: an insertion would probably succeed
  // Asks the guard again, since a rehearsal takes time, and users in the kernel do not keep the
  // driver from being removed. None: it may be.
  std::function<std::optional<OperationResult>()> refused_now;
  std::function<OperationResult()> remove;  // AlreadyDone: the module was not loaded
  std::function<OperationResult()> insert;
};

// Does not remove a module that could not be inserted again (a block list, a kernel update that has
// removed the running kernel's modules, or a module file that the kernel would refuse). If the
// module is not loaded, only inserts it. After a removal the insertion is tried twice, and its
// failure says that the driver is missing.
[[nodiscard]] OperationResult reload_driver(const DriverModule& module);

}  // namespace pvrdma::executor
