// SPDX-License-Identifier: GPL-2.0-or-later
// Operations on vmw_pvrdma: binding and unbinding a function by sysfs
// (Documentation/ABI/testing/sysfs-bus-pci; Linux drivers/base/bus.c), inserting and reloading the
// driver.
//
// The bind and unbind files have mode 0200 and belong to root: uid 0 suffices, without
// capabilities. The caller must have asked the guard; an unbind asks it again after closing the
// node. Functions are probed one by one, each with the driver's event queue empty: a plain
// insertion would probe all of them in a row, which may crash the kernel
// (agent/executor/event_queue.hpp).
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/field.hpp"
#include "agent/model/operation_result.hpp"

namespace pvrdma::executor {

// Earlier versions used this name, and may have left such a file.
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
// called. The result is that of insert(); the next look finds a failed probe.
[[nodiscard]] OperationResult insert_driver(const Root& root,
                                            const std::function<OperationResult()>& insert);

// The functions that a killed executor has left held back, in PCI order.
[[nodiscard]] Result<std::vector<std::string>> held_back(const Root& root);
// Releases them without binding them.
[[nodiscard]] Result<void> free_held_back(const Root& root,
                                          const std::vector<std::string>& functions);

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
  std::function<OperationResult()> remove;    // AlreadyDone: the module was not loaded
  std::function<OperationResult()> insert;
};

// Does not remove a module that could not be inserted again (a block list, a kernel update that has
// removed the running kernel's modules, or a module file that the kernel would refuse). If the
// module is not loaded, only inserts it. After a removal the insertion is tried twice, and its
// failure says that the driver is missing.
[[nodiscard]] OperationResult reload_driver(const DriverModule& module);

}  // namespace pvrdma::executor
