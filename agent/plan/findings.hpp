// The planner's findings: each a function that fills in an entry of the catalogue
// (agent/model/catalogue.hpp) from what was seen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/model/config.hpp"
#include "agent/model/health.hpp"
#include "agent/plan/history.hpp"

namespace pvrdma::findings {

using MaybeAdapter = std::optional<std::string>;

// Adapter and host
[[nodiscard]] Finding no_adapter(unsigned required);
[[nodiscard]] Finding no_vmxnet3_pair(const Adapter& adapter);
[[nodiscard]] Finding no_carrier(const Adapter& adapter, const Netdev& netdev);
[[nodiscard]] Finding port_down(const Adapter& adapter);
[[nodiscard]] Finding netdev_lost(const Adapter& adapter);
[[nodiscard]] Finding netdev_elsewhere(const Adapter& adapter);
// What ibv_query_port(3) says is unreadable.
[[nodiscard]] Finding verbs_unusable(const Adapter& adapter, const RdmaDevice& rdma);
[[nodiscard]] Finding gid_missing(const Adapter& adapter, const std::string& address, GidType type);
[[nodiscard]] Finding unreadable(const Error& error, MaybeAdapter adapter);

// Modules
[[nodiscard]] Finding driver_not_shipped(const Snapshot& snapshot);
[[nodiscard]] Finding driver_built_in(const std::string& why);
[[nodiscard]] Finding module_not_shipped(const std::string& module, const Snapshot& snapshot,
                                         bool required);
[[nodiscard]] Finding initramfs_old(const Initramfs& image, const Snapshot& snapshot);

// What was tried, and what stands in the way
[[nodiscard]] Finding attempt_failed(const Attempt& attempt, MaybeAdapter adapter);
// `optional`: the adapters work without what was tried.
[[nodiscard]] Finding giving_up(const std::string& call, unsigned tries, bool optional,
                                MaybeAdapter adapter);
[[nodiscard]] Finding driver_in_use(std::vector<Holder> holders, const std::string& why);
[[nodiscard]] Finding holders_unknown(const Snapshot& snapshot, const std::string& why);
[[nodiscard]] Finding reload_forbidden(const std::string& why);
// `script`: of those that reload the driver at every boot.
[[nodiscard]] Finding boot_script(const BootScript& script);
[[nodiscard]] Finding reload_waits(const BootScript& script, const std::string& why);
[[nodiscard]] Finding ledger_unusable(const Error& error, const std::string& why);
[[nodiscard]] Finding executor_stuck(const BusyCall& call);
[[nodiscard]] Finding executor_missing(const Error& error);
[[nodiscard]] Finding slow(const Adapter& adapter, Milliseconds limit);

// Configuration
[[nodiscard]] Finding config_bad(const std::string& error);
[[nodiscard]] Finding config_left_out(const std::string& error);
// `what` customizes the VM, `patience` is how long it is waited for.
[[nodiscard]] Finding customization_awaited(const std::string& what, Milliseconds patience);
[[nodiscard]] Finding customization_late(const std::string& what, Milliseconds patience);
[[nodiscard]] Finding config_matches_nothing(const AdapterMatch& match);

// Links. `owner`: the network manager that has it, null: nobody that we know. The adapter has a
// netdev.
[[nodiscard]] Finding link_down_not_ours(const Adapter& adapter, const LinkOwner* owner);
[[nodiscard]] Finding mtu_differs(const Adapter& adapter, const LinkOwner* owner, unsigned mtu);
[[nodiscard]] Finding address_missing(const Adapter& adapter, const LinkOwner* owner,
                                      const std::string& address);
[[nodiscard]] Finding mtu_impossible(const Adapter& adapter, const Netdev& netdev, unsigned mtu);
[[nodiscard]] Finding mtu_waits(const Adapter& adapter, const Netdev& netdev, unsigned mtu);
[[nodiscard]] Finding address_duplicate(const Adapter& adapter, const std::string& address);
[[nodiscard]] Finding same_subnet(const Adapter& adapter, const Adapter& other,
                                  const std::string& address);
[[nodiscard]] Finding default_route(const Adapter& adapter);
// `patience`: after which it is forgotten.
[[nodiscard]] Finding adapter_removed(const RemovedAdapter& removed, Milliseconds patience);
[[nodiscard]] Finding first_nic(const Adapter& adapter);
[[nodiscard]] Finding address_outside(const Adapter& adapter, const std::string& address);
[[nodiscard]] Finding two_owners(const Adapter& adapter, const LinkOwner& owner);

}  // namespace pvrdma::findings
