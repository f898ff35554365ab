// SPDX-License-Identifier: GPL-2.0-or-later
// The planner's findings: entries of the catalogue (agent/model/catalogue.hpp), filled in with
// observed values. Simple findings are made in the rules; here are those that need more code or are
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
// sentences.
[[nodiscard]] Finding about(const Adapter& adapter, FindingId id, Values values,
                            std::string_view variant = {});
[[nodiscard]] Finding overall(FindingId id, Values values, std::string_view variant = {});

namespace findings {

using MaybeAdapter = std::optional<std::string>;

// Adapter and host
[[nodiscard]] Finding port_down(const Adapter& adapter, bool reload_tried);
[[nodiscard]] Finding netdev_lost(const Adapter& adapter);
[[nodiscard]] Finding gid_missing(const Adapter& adapter, const std::string& address, GidType type);
[[nodiscard]] Finding unreadable(const Error& error, MaybeAdapter adapter);

// Modules
[[nodiscard]] Finding driver_not_shipped(const Snapshot& snapshot);
[[nodiscard]] Finding module_not_shipped(const std::string& module, const Snapshot& snapshot,
                                         bool required);
// `how`: what blocks the load; `required`: whether the adapters need the module.
[[nodiscard]] Finding module_blocked(const std::string& module, const std::string& how,
                                     bool required);
// `error`: why modprobe.d could not be read.
[[nodiscard]] Finding block_unknown(const std::string& module, const Error& error);
[[nodiscard]] Finding initramfs_old(const Initramfs& image, const Snapshot& snapshot);

// Attempts that failed or that the executor's guard refused, and obstacles
[[nodiscard]] Finding attempt_failed(const Attempt& attempt, MaybeAdapter adapter);
// `optional`: the adapters work without this operation.
[[nodiscard]] Finding giving_up(const std::string& call, unsigned tries, bool optional,
                                MaybeAdapter adapter);
[[nodiscard]] Finding trying_slowly(const std::string& call, unsigned tries, MaybeAdapter adapter);
[[nodiscard]] Finding driver_in_use(std::vector<Holder> holders, const std::string& why);
[[nodiscard]] Finding holders_unknown(const Snapshot& snapshot, const std::string& why);
[[nodiscard]] Finding slow(const Adapter& adapter, Milliseconds limit);

// `since`: when the look began that has not returned
[[nodiscard]] Finding look_stuck(BootTime since);

// Configuration
// `none_good`: the agent has not read a valid configuration since it started.
[[nodiscard]] Finding config_bad(const std::string& error, bool none_good);
// Puts config_bad before the others, without those that follow from it: with an invalid
// configuration the executor refuses all calls, and where none is good no reload is allowed. Where
// an adapter waits for one in vain, only that finding tells.
void put_config_bad(std::vector<Finding>& findings, const std::string& error, bool none_good);
[[nodiscard]] Finding config_left_out(const std::string& error);
// `what` customizes the VM, `patience` is the limit of the wait for it.
[[nodiscard]] Finding customization_awaited(const std::string& what, Milliseconds patience);
[[nodiscard]] Finding customization_late(const std::string& what, Milliseconds patience);

// Links. `owner`: the network manager that has the link; null: none is known. The adapter must have
// a netdev.
[[nodiscard]] Finding link_down_not_ours(const Adapter& adapter, const LinkOwner* owner);
[[nodiscard]] Finding mtu_differs(const Adapter& adapter, const LinkOwner* owner, unsigned mtu);
[[nodiscard]] Finding address_missing(const Adapter& adapter, const LinkOwner* owner,
                                      const std::string& address);
[[nodiscard]] Finding mtu_impossible(const Adapter& adapter, const Netdev& netdev, unsigned mtu);
// `holders`: the change waits for them; empty: they cannot be named.
[[nodiscard]] Finding mtu_waits(const Adapter& adapter, const Netdev& netdev, unsigned mtu,
                                std::vector<Holder> holders);
// `variant`: why the address must be removed, "removed" (from the configuration) or "duplicate".
[[nodiscard]] Finding address_waits(const Adapter& adapter, const std::string& address,
                                    std::string_view variant, std::vector<Holder> holders);
[[nodiscard]] Finding same_subnet(const Adapter& adapter, const Adapter& other,
                                  const std::string& address);
// `patience`: the finding ends after this time.
[[nodiscard]] Finding adapter_removed(const RemovedAdapter& removed, Milliseconds patience);
[[nodiscard]] Finding two_owners(const Adapter& adapter, const LinkOwner& owner);

}  // namespace findings

// Remedies of findings about links that a network manager has: the exact lines that an
// administrator has to write into its configuration.
namespace advice {

// The MTU is in bytes.
[[nodiscard]] std::string set_mtu(const LinkOwner& owner, const Netdev& netdev, unsigned mtu);
// `address` has a prefix: "192.168.30.201/24".
[[nodiscard]] std::string set_address(const LinkOwner& owner, const Netdev& netdev,
                                      const std::string& address);
// The lines that make the manager leave the link to the agent.
[[nodiscard]] std::string leave_link_to_us(const LinkOwner& owner, const Netdev& netdev);

}  // namespace advice

}  // namespace pvrdma
