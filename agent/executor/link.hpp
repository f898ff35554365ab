// SPDX-License-Identifier: GPL-2.0-or-later
// Brings up the link of an adapter, with MTU and addresses as configured.
//
// A link is addressed by its interface index, found by its PCI function. So a rename or a hot-plug
// between the guard's look and the request cannot change another NIC.
#pragma once

#include <linux/if_ether.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/executor/route_socket.hpp"
#include "agent/model/operation_result.hpp"
#include "probes/address_records.hpp"

namespace pvrdma::executor {

// The next three functions are in duplicate_address.cpp. They look for another host that already
// has an IPv4 address, by ARP probes (RFC 5227, section 2.1.1), before the address is set.
//
// Three probes within a fifth of a second, as systemd-networkd and NetworkManager send them by
// default, instead of the RFC's five to nine seconds: the boot waits for the port, and the port for
// this.

using MacAddress = std::array<std::uint8_t, ETH_ALEN>;

// The MAC of another host whose ARP packet claims `address` (network order) or probes for it.
// Empty: the packet does neither, is our own, or is invalid.
[[nodiscard]] std::optional<MacAddress> claimant(std::span<const std::uint8_t> packet,
                                                 const std::array<std::uint8_t, 4>& address,
                                                 const MacAddress& own);

// Looks for another host with `address` ("192.168.30.201/24") on this link, which must have carrier
// and the MAC `mac`. Returns the other host's MAC, "00:50:56:8a:9f:c2"; empty: no host answered.
// EINVAL: not IPv4, or no MAC.
[[nodiscard]] Result<std::optional<std::string>> find_duplicate(int index, const std::string& mac,
                                                                const std::string& address);

[[nodiscard]] std::string to_text(const MacAddress& mac);

// The index of the interface of that name that belongs to that PCI function. ENOENT: the function
// has no such interface.
[[nodiscard]] Result<int> interface_of(const Root& root, const std::string& net_function,
                                       const std::string& netdev);

// A time in which no process begins to use the adapter.
struct Alone {
  std::optional<OperationResult> refused{};  // why there is no such time now; none: it has begun
  std::shared_ptr<void> until_released{};    // the time ends when this is released
};

struct LinkSettings {
  std::optional<unsigned> mtu;  // bytes; none: unchanged
  // To be added where they are missing; an address of ours that is a duplicate is removed before.
  std::vector<std::string> addresses;
  std::vector<std::string> configured;  // all addresses of the configuration
  // Whether addresses that the agent has set and that are not configured are removed; those of
  // others are never removed.
  bool removes = false;
  // Called before an address is removed, and before the MTU of a link that is up is set: a process
  // that has opened the adapter since the guard's look would lose its GID. Null: none can.
  std::function<Alone()> alone{};

  [[nodiscard]] Alone begin_alone() const { return alone ? alone() : Alone{}; }
};

using AddressRecords = std::vector<probes::RecordedAddress>;

// Saves the records for later executors.
using SaveRecords = std::function<Result<void>(const AddressRecords&)>;

// Sets the MTU first, as vmxnet3 resets its device for that; then brings the link up; then sets the
// addresses. AlreadyDone where nothing was to do; the refusal of `alone`, with the address, where
// an address was kept and nothing else was to do. For an IPv4 address that is not in `records` yet,
// the network is probed first, which needs carrier; the address is not set where another host has
// it (EADDRINUSE, with that host's MAC). An address is saved in `records` before it is set, and
// removed from them if it could not be set: on a kernel that keeps no mark, an address without a
// record would never be removed. If `save` fails the address is not set. The caller must save other
// changes of `records`.
[[nodiscard]] OperationResult configure_link(RouteSocket& socket, int index,
                                             const LinkSettings& settings, AddressRecords& records,
                                             const SaveRecords& save);

// The part of configure_link() for addresses; the link must be up. If one address fails, the others
// are still set.
[[nodiscard]] OperationResult configure_addresses(RouteSocket& socket, const Netdev& link,
                                                  const LinkSettings& settings,
                                                  AddressRecords& records, const SaveRecords& save);

}  // namespace pvrdma::executor
