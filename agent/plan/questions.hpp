// SPDX-License-Identifier: GPL-2.0-or-later
// What several rules ask of the configuration and a Snapshot: what precedes the driver, what the
// configuration says about an adapter, and whose its link is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/model/adapter_match.hpp"
#include "agent/model/config.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma {

// Modules that must precede vmw_pvrdma: vmxnet3, then `modules.before`.
[[nodiscard]] std::vector<std::string> predecessors(const Config& config);

[[nodiscard]] bool is_live(const Snapshot& snapshot, const std::string& module);

// Why parts of the adapter that the rules and the verdict rest on could not be read.
[[nodiscard]] std::vector<Error> unreadable_parts(const Adapter& adapter);

// As find_config(). Where that cannot tell, nothing may be done to the link: it is observed.
[[nodiscard]] const AdapterConfig& config_of(const Config& config, const Adapter& adapter);

// The network manager that has the adapter's link; null: none has, or may take, or can be known.
[[nodiscard]] const LinkOwner* other_owner(const Adapter& adapter);

// True where the agent may bring the adapter's link up: the configuration gives it to us, or leaves
// it open and no network manager has it. One that has not decided yet finds it up.
[[nodiscard]] bool link_is_ours(const Config& config, const Adapter& adapter);

// What has a verbs context of the adapter open, or uses it in the kernel. None: it is known that
// nothing does. Empty: something may, and cannot be named.
[[nodiscard]] std::optional<std::vector<Holder>> holders_of(const Snapshot& snapshot,
                                                            const Adapter& adapter);

// For people and programs: "agent", "nobody", or the network manager's name.
[[nodiscard]] std::string managed_by(const Config& config, const Adapter& adapter);

}  // namespace pvrdma
