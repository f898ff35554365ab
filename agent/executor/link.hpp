// SPDX-License-Identifier: GPL-2.0-or-later
// Brings up the link of an adapter, with MTU and addresses as configured.
//
// A link is addressed by its interface index, found by its PCI function. So a rename or a hot-plug
// between the guard's look and the request cannot change another NIC.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/executor/route_socket.hpp"
#include "agent/model/operation_result.hpp"
#include "probes/address_records.hpp"

namespace pvrdma::executor {

// The index of the interface of that name that belongs to that PCI function. ENOENT: the function
// has no such interface.
[[nodiscard]] Result<int> interface_of(const Root& root, const std::string& net_function,
                                       const std::string& netdev);

struct LinkSettings {
  std::optional<unsigned> mtu;  // bytes; none: unchanged
  // To be added where they are missing; an address of ours that is a duplicate is removed before.
  std::vector<std::string> addresses;
  // All addresses of the configuration. If it is `complete`, addresses that the agent has set and
  // that are not among them are removed; those of others are never removed.
  std::vector<std::string> configured;
  bool complete = true;
  // Why no address may be removed now; none: addresses may be removed.
  std::optional<OperationResult> keep{};
};

using AddressRecords = std::vector<probes::RecordedAddress>;

// Saves the records for later executors.
using SaveRecords = std::function<Result<void>(const AddressRecords&)>;

// Sets the MTU first, as vmxnet3 resets its device for that; then brings the link up; then sets the
// addresses. AlreadyDone where nothing was to do; `keep`, with the address, where an address was
// kept and nothing else was to do. For an IPv4 address that is not in `records` yet, the network is
// probed first, which needs carrier; the address is not set where another host has it (EADDRINUSE,
// with that host's MAC). An address is saved in `records` before it is set, and removed from them
// if it could not be set: on a kernel that keeps no mark, an address without a record would never
// be removed. If `save` fails the address is not set. The caller must save other changes of
// `records`.
[[nodiscard]] OperationResult configure_link(RouteSocket& socket, int index,
                                             const LinkSettings& settings, AddressRecords& records,
                                             const SaveRecords& save);

}  // namespace pvrdma::executor
