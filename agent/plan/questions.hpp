// SPDX-License-Identifier: GPL-2.0-or-later
// Questions that several rules ask about the configuration and a Snapshot: which modules precede
// the driver, which configuration an adapter has, and who manages its link.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/model/action.hpp"
#include "agent/model/adapter_match.hpp"
#include "agent/model/config.hpp"
#include "agent/model/health.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma {

// Modules that must precede vmw_pvrdma: vmxnet3, then `modules.before`.
[[nodiscard]] std::vector<std::string> predecessors(const Config& config);

// True where health is `failed` without the module: the drivers of both functions, and
// modules.required.
[[nodiscard]] bool is_required(const Config& config, const std::string& module);

[[nodiscard]] bool is_live(const Snapshot& snapshot, const std::string& module);

// True where vmxnet3 or vmw_pvrdma probes functions during the operation.
[[nodiscard]] bool probes_functions(const Operation& operation);

// Whether the rules and the verdict need a field of an adapter; by its interface_name().
[[nodiscard]] bool is_decisive(std::string_view field);

// The errors of the adapter's unreadable fields that are decisive.
[[nodiscard]] std::vector<Error> unreadable_parts(const Adapter& adapter);

// As find_config(). Where that fails, the link must not be touched, so the result says
// manage = "observe".
[[nodiscard]] const AdapterConfig& config_of(const Config& config, const Adapter& adapter);

// True where no driver has the function. While the driver releases it, the link to the driver goes
// first and the RDMA device last, and between them the kernel waits until no job has the device
// open.
[[nodiscard]] bool is_unbound(const Adapter& adapter);

// The network manager that has the adapter's link; null: none, or not decided, or not known.
[[nodiscard]] const LinkOwner* other_owner(const Adapter& adapter);

// True where the agent may bring the adapter's link up: the configuration gives the link to the
// agent, or says "auto" and no network manager has it. A manager that has not decided yet does not
// prevent it.
[[nodiscard]] bool link_is_ours(const Config& config, const Adapter& adapter);

// The holders of the adapter: processes with an open verbs context, and users in the kernel. None:
// there is certainly no holder. Empty: there may be holders that cannot be named.
[[nodiscard]] std::optional<std::vector<Holder>> holders_of(const Snapshot& snapshot,
                                                            const Adapter& adapter);

// For people and programs: "agent", "nobody", or the network manager's name.
[[nodiscard]] std::string managed_by(const Config& config, const Adapter& adapter);

// The GID that applications have to use: an adapter is usable when their address has a GID.

// The address that applications use, without its prefix: the first configured one that is on the
// link, else the first IPv4 address, else the first IPv6 address. Addresses that are link-local,
// still tentative, or a duplicate are ignored. Empty: there is none.
[[nodiscard]] std::string application_address(const Config& config, const Adapter& adapter);

// The GID of application_address(), of the configured type; of several equal ones that with the
// lowest index. None: there is no such address, or no such GID (yet).
[[nodiscard]] std::optional<ApplicationGid> application_gid(const Config& config,
                                                            const Adapter& adapter);

// How many of the GIDs that both looks saw have a different index in the later look.
[[nodiscard]] unsigned moved_gids(const RdmaDevice& before, const RdmaDevice& now);

}  // namespace pvrdma
