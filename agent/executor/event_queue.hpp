// SPDX-License-Identifier: GPL-2.0-or-later
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
#pragma once

#include "agent/base/clock.hpp"
#include "agent/base/file.hpp"

namespace pvrdma::executor {

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

}  // namespace pvrdma::executor
