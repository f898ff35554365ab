// Bind and unbind of vmw_pvrdma and one function, by sysfs
// (Documentation/ABI/testing/sysfs-bus-pci; Linux drivers/base/bus.c).
//
// The bind and unbind files have mode 0200 and belong to root: uid 0 suffices, no capability. The
// caller has asked the guard; an unbind asks once more behind a closed node.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "agent/base/file.hpp"
#include "agent/model/field.hpp"
#include "agent/model/report.hpp"

namespace pvrdma::executor {

// Its name is that of earlier versions, which may have left one.
inline constexpr const char* kAccessMemo = "/run/pvrdma-agent-executor/door";

// "uverbs0", of a function; absent where ib_uverbs has no node for it, and nobody can hold it then.
[[nodiscard]] Field<std::string> verbs_node_name(const Root& root, const std::string& function);

// One write(2), which is one request to the kernel; its errno is the answer.
[[nodiscard]] Result<void> write_attribute(const std::filesystem::path& path,
                                           const std::string& text);

// What a function's driver_override says while it is held back from being probed: the name of no
// driver.
inline constexpr const char* kHeldBack = "pvrdma-agent-waits";

[[nodiscard]] Result<void> hold_back(const Root& root, const std::string& function);
// Also what an executor that was killed has left held back; an administrator's own override stays.
[[nodiscard]] Result<void> clear_driver_override(const Root& root, const std::string& function);
// False: an administrator has given the function to another driver.
[[nodiscard]] bool may_be_probed(const Root& root, const std::string& function);

// Lets go of the function and waits for the driver's event queue first, ETIMEDOUT. ENODEV in a
// Failed report: the driver's probe gave up, as it does where vmxnet3 has not registered the netdev
// of function 0 yet.
[[nodiscard]] Report bind_function(const Root& root, const std::string& function);

struct Rebind {
  Report report;
  bool unbound = false;  // whatever came after it
};

// `refused_now` looks again and asks the guard again; a refusal opens the node to others again and
// changes nothing. After an unbind the binding is tried twice, and its failure says that the
// function has no driver. Blocks, unkillably, while somebody who came through the closed node holds
// the device.
[[nodiscard]] Rebind rebind_function(const Root& root, const std::string& function,
                                     const std::filesystem::path& access_memo,
                                     const std::function<std::optional<Report>()>& refused_now);

}  // namespace pvrdma::executor
