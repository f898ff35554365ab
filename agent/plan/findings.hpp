// SPDX-License-Identifier: GPL-2.0-or-later
// The planner's findings, which are entries of the catalogue (agent/model/catalogue.hpp) filled in
// with what was seen. A rule fills in what it has at hand by itself; here is what takes more, or is
// made in several places.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/model/catalogue.hpp"
#include "agent/model/config.hpp"
#include "agent/model/health.hpp"
#include "agent/plan/history.hpp"

namespace pvrdma {

// A finding about an adapter, and one about the whole machine, with values for the names in its
// words.
[[nodiscard]] Finding about(const Adapter& adapter, FindingId id, Values values,
                            std::string_view variant = {});
[[nodiscard]] Finding overall(FindingId id, Values values, std::string_view variant = {});

namespace findings {

using MaybeAdapter = std::optional<std::string>;

// Adapter and host
[[nodiscard]] Finding port_down(const Adapter& adapter);
[[nodiscard]] Finding netdev_lost(const Adapter& adapter);
[[nodiscard]] Finding gid_missing(const Adapter& adapter, const std::string& address, GidType type);
[[nodiscard]] Finding unreadable(const Error& error, MaybeAdapter adapter);

// Modules
[[nodiscard]] Finding driver_not_shipped(const Snapshot& snapshot);
[[nodiscard]] Finding module_not_shipped(const std::string& module, const Snapshot& snapshot,
                                         bool required);
// `how`: what keeps it from being loaded, in `required` whether the adapters need it.
[[nodiscard]] Finding module_blocked(const std::string& module, const std::string& how,
                                     bool required);
[[nodiscard]] Finding initramfs_old(const Initramfs& image, const Snapshot& snapshot);

// What was tried, or refused by the executor's guard, and what stands in the way
[[nodiscard]] Finding attempt_failed(const Attempt& attempt, MaybeAdapter adapter);
// `optional`: the adapters work without what was tried.
[[nodiscard]] Finding giving_up(const std::string& call, unsigned tries, bool optional,
                                MaybeAdapter adapter);
[[nodiscard]] Finding trying_slowly(const std::string& call, unsigned tries, MaybeAdapter adapter);
[[nodiscard]] Finding driver_in_use(std::vector<Holder> holders, const std::string& why);
[[nodiscard]] Finding holders_unknown(const Snapshot& snapshot, const std::string& why);
[[nodiscard]] Finding slow(const Adapter& adapter, Milliseconds limit);

// Of a look that has not come back since then
[[nodiscard]] Finding look_stuck(BootTime since);

// Configuration
// `none_good`: the agent has not read a good one since it started.
[[nodiscard]] Finding config_bad(const std::string& error, bool none_good);
[[nodiscard]] Finding config_left_out(const std::string& error);
// `what` customizes the VM, `patience` is how long it is waited for.
[[nodiscard]] Finding customization_awaited(const std::string& what, Milliseconds patience);
[[nodiscard]] Finding customization_late(const std::string& what, Milliseconds patience);

// Links. `owner`: the network manager that has it, null: nobody that we know. The adapter has a
// netdev.
[[nodiscard]] Finding link_down_not_ours(const Adapter& adapter, const LinkOwner* owner);
[[nodiscard]] Finding mtu_differs(const Adapter& adapter, const LinkOwner* owner, unsigned mtu);
[[nodiscard]] Finding address_missing(const Adapter& adapter, const LinkOwner* owner,
                                      const std::string& address);
[[nodiscard]] Finding mtu_impossible(const Adapter& adapter, const Netdev& netdev, unsigned mtu);
// `holders`: what the change waits for; empty: it cannot be named.
[[nodiscard]] Finding mtu_waits(const Adapter& adapter, const Netdev& netdev, unsigned mtu,
                                std::vector<Holder> holders);
// `variant`: why the address ought to be taken away, "removed" or "duplicate".
[[nodiscard]] Finding address_waits(const Adapter& adapter, const std::string& address,
                                    std::string_view variant, std::vector<Holder> holders);
[[nodiscard]] Finding same_subnet(const Adapter& adapter, const Adapter& other,
                                  const std::string& address);
// `patience`: after which it is forgotten.
[[nodiscard]] Finding adapter_removed(const RemovedAdapter& removed, Milliseconds patience);
[[nodiscard]] Finding two_owners(const Adapter& adapter, const LinkOwner& owner);

}  // namespace findings

}  // namespace pvrdma
