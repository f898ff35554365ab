// SPDX-License-Identifier: GPL-2.0-or-later
// A link in a network namespace, whose addresses the executor sets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/executor/link.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/executor/netns.hpp"
#include "tests/unit/executor/tree.hpp"

namespace pvrdma::executor {

using test::run;

// v0 is the link under test, v1 its other end, which is up.
struct LinkAddressesFixture {
  test::Namespace space;
  test::Tree tree;
  AddressRecords records;
  std::optional<RouteSocket> socket;
  int index = 0;

  LinkAddressesFixture() {
    tree.directory("/state");
    if (!space.entered()) return;
    run("ip link add v0 address 02:00:00:00:00:01 type veth peer name v1");
    run("ip link set v1 address 02:00:00:00:00:02 up");
    index = test::index_of_link("v0");
    auto opened = RouteSocket::open();
    REQUIRE(opened.has_value());
    socket = std::move(*opened);
  }
  OperationResult configure(const std::vector<std::string>& addresses) {
    return configure_link(*socket, index, {{}, addresses, addresses, true}, records, save());
  }
  // Saves to a file, as the executor does.
  SaveRecords save() {
    return [this](const AddressRecords& now) {
      return replace_file(tree / "/state/addresses", probes::format_address_records(now));
    };
  }
  [[nodiscard]] AddressRecords saved() const {
    return probes::parse_address_records(tree.read("/state/addresses"));
  }
  static bool has(const std::string& address) {
    return run("ip -o address show dev v0").find(" " + address + " ") != std::string::npos;
  }
  LinkAddress seen(const std::string& text) {
    const auto addresses = socket->addresses(index);
    REQUIRE(addresses.has_value());
    for (const LinkAddress& address : *addresses)
      if (address.text == text) return address;
    return {};
  }
};

}  // namespace pvrdma::executor
