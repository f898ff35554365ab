// SPDX-License-Identifier: GPL-2.0-or-later
// What is done to the link of an adapter: it is brought up, with MTU and addresses as configured.
//
// A link is addressed by its interface index, found through the PCI function that owns it, so that
// a rename or a hot-plug between the guard's look and the request cannot hit another NIC.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/executor/route_socket.hpp"
#include "agent/model/report.hpp"
#include "probes/address_records.hpp"

namespace pvrdma::executor {

// Index of the interface of that name which belongs to that PCI function. ENOENT: it has none such.
[[nodiscard]] Result<int> interface_of(const Root& root, const std::string& net_function,
                                       const std::string& netdev);

struct LinkSettings {
  std::optional<unsigned> mtu;  // bytes; none: as it is
  // To be added where they are not there; one of ours that is a duplicate is removed before.
  std::vector<std::string> addresses;
  // All that the configuration names. Where that is complete, an address that we have set and that
  // is not among them is removed; nobody else's ever is.
  std::vector<std::string> configured;
  bool complete = true;
  // Why no address may be taken away now; none: it may.
  std::optional<Report> keep{};
};

using AddressRecords = std::vector<probes::RecordedAddress>;

// Keeps the records for later executors.
using SaveRecords = std::function<Result<void>(const AddressRecords&)>;

// MTU first, as vmxnet3 resets its device for it; then up; then addresses. AlreadyDone where all of
// it is so already; `keep`, with the address, where an address is kept and there was nothing else
// to do. An IPv4 address that is not in `records` yet is looked for in the network first, which
// needs carrier, and is not set where another host has it (EADDRINUSE, with the other's MAC). An
// address is saved in `records` before it is set, and withdrawn where it could not be set: on a
// kernel that keeps no mark, an address without a record would never be removed. Where `save` fails
// the address is not set. What else has changed in `records` is the caller's to save.
[[nodiscard]] Report configure_link(RouteSocket& socket, int index, const LinkSettings& settings,
                                    AddressRecords& records, const SaveRecords& save);

}  // namespace pvrdma::executor
