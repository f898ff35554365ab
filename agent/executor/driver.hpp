// SPDX-License-Identifier: GPL-2.0-or-later
// What is done to vmw_pvrdma: bound to one function and unbound from it, by sysfs
// (Documentation/ABI/testing/sysfs-bus-pci; Linux drivers/base/bus.c), inserted and reloaded.
//
// The bind and unbind files have mode 0200 and belong to root: uid 0 suffices, no capability. The
// caller has asked the guard; an unbind asks once more behind a closed node. One function is probed
// after the other, each with the driver's event queue empty: an insertion would probe all of them
// in a row, which may crash the kernel (agent/executor/event_queue.hpp tells how).
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/field.hpp"
#include "agent/model/report.hpp"

namespace pvrdma::executor {

// Its name is that of earlier versions, which may have left one.
inline constexpr const char* kAccessMemo = "/run/pvrdma-agent-executor/door";

// What a function's driver_override says while it is held back from being probed: the name of no
// driver.
inline constexpr const char* kHeldBack = "pvrdma-agent-waits";

// Lets go of a function that was held back, also by an executor that was killed, and waits for the
// driver's event queue first, ETIMEDOUT. ENODEV in a Failed report: the driver's probe gave up, as
// it does where vmxnet3 has not registered the netdev of function 0 yet.
[[nodiscard]] Report bind_function(const Root& root, const std::string& function);

// insert(), which may be a reload, with all functions that vmw_pvrdma has or would probe but the
// first, in PCI order, held back; then binds these one by one. A function that an administrator has
// given to another driver (driver_override) is not among them. Where one cannot be held back,
// insert() is not called. The report is insert()'s; a probe that failed is left to the next look,
// as after any insertion.
[[nodiscard]] Report insert_driver(const Root& root, const std::function<Report()>& insert);

// The functions that an executor that was killed has left held back, in PCI order.
[[nodiscard]] Result<std::vector<std::string>> held_back(const Root& root);
// Lets go of them, and binds none.
[[nodiscard]] Result<void> free_held_back(const Root& root,
                                          const std::vector<std::string>& functions);

// What came of taking the driver away and bringing it back.
struct TakeAway {
  Report report;
  bool taken = false;  // it was unbound or removed, whatever came after it
};

// `refused_now` looks again and asks the guard again; a refusal opens the node to others again and
// changes nothing. After an unbind the binding is tried twice, and its failure says that the
// function has no driver. Blocks, unkillably, while somebody who came through the closed node holds
// the device.
[[nodiscard]] TakeAway rebind_function(const Root& root, const std::string& function,
                                       const std::filesystem::path& access_memo,
                                       const std::function<std::optional<Report>()>& refused_now);

// What a reload does to the module, so that its order can be tested without a driver.
struct DriverModule {
  std::function<Report()> rehearse;  // Done: an insertion would be tried
  std::function<Report()> remove;    // AlreadyDone: it was not loaded
  std::function<Report()> insert;
};

// Removes nothing that could not be inserted again (a block list, a kernel update that took the
// running kernel's modules away, or a module file that the kernel would refuse). Not loaded: only
// inserts. After a removal the insertion is tried twice, and its failure says that the driver is
// out.
[[nodiscard]] TakeAway reload_driver(const DriverModule& module);

}  // namespace pvrdma::executor
