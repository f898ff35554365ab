// Probing: never more of vmw_pvrdma's probes at a time than its driver bears, which is one.
//
// At the end of a probe the driver registers a netdev notifier, and the kernel replays REGISTER
// and UP of every netdev to it, which the driver handles later, on a workqueue. A function that is
// in its own probe by then is found in the driver's list without its registers mapped, and an UP of
// its netdev writes through them: an oops that leaves the driver's mutex locked for good (Linux 6.1
// drivers/infiniband/hw/vmw_pvrdma/pvrdma_main.c, pvrdma_netdevice_event_work(); net/core/dev.c,
// register_netdevice_notifier()). An insertion probes one function right after the other, so with
// two adapters whose links are up, every modprobe of the driver is a gamble.
//
// The replay goes through the netdevs in the order in which they were registered. So the functions
// are probed from the youngest netdev to the oldest, each after its predecessor has been told of
// its own netdev: by then it has been told of the netdevs of all functions still to come.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/executor/report.hpp"

namespace pvrdma::executor {

// The functions that vmw_pvrdma has or would probe, the one with the youngest netdev first. One
// that an administrator has given to another driver (driver_override) is not among them.
[[nodiscard]] Result<std::vector<std::string>> probe_order(const Root& root);

// insert(), which may be a reload, with all functions but the first of probe_order() held back,
// then binds these one by one. Where one cannot be held back, insert() is not called. `settle` is
// called after each probe but the last, and returns once another may follow. The report is
// insert()'s; a probe that failed is left to the next look, as after any insertion.
[[nodiscard]] Report insert_driver(const Root& root, const std::function<Report()>& insert,
                                   const std::function<void(const std::string&)>& settle);

// Returns once the driver knows the netdev of that function, or has had two seconds for it, which
// is a thousand times what the workqueue takes.
void await_pairing(const Root& root, const std::string& function);

}  // namespace pvrdma::executor
