// SPDX-License-Identifier: GPL-2.0-or-later
// Which [[adapter]] matches which adapter, the same for every program.
#include "agent/model/adapter_match.hpp"

#include <cerrno>

#include "tests/unit/catch.hpp"

using namespace pvrdma;

namespace {

const Error kDenied{13, "reading", "a file"};

AdapterNames names() {
  return {"0000:13:00.1",
          "0000:13:00.0",
          std::string{"ens224f0"},
          std::string{"00:50:56:8a:9f:c2"},
          {}};
}

AdapterConfig with_mtu(AdapterMatch match, unsigned mtu) {
  return {std::move(match), Manage::Auto, mtu, {}};
}

const AdapterMatch kByMac{"00:50:56:8a:9f:c2", {}, {}};
const AdapterMatch kByFunction{{}, "0000:13:00.1", {}};
const AdapterMatch kByNetFunction{{}, "0000:13:00.0", {}};
const AdapterMatch kByNetdev{{}, {}, "ens224f0"};

}  // namespace

TEST_CASE("an adapter is matched by MAC, by either function and by the netdev's name") {
  for (const AdapterMatch& match : {kByMac, kByFunction, kByNetFunction, kByNetdev}) {
    INFO(to_string(match));
    CHECK(matches(match, names()));
  }
  for (const AdapterMatch& match :
       {AdapterMatch{"00:50:56:8a:9f:c3", {}, {}}, AdapterMatch{{}, "0000:13:00.2", {}},
        AdapterMatch{{}, {}, "ens224f1"}, AdapterMatch{}}) {
    INFO(to_string(match));
    CHECK_FALSE(matches(match, names()));
  }
  AdapterNames unnamed = names();
  unnamed.netdev = {};
  unnamed.mac = {};
  CHECK_FALSE(matches(kByMac, unnamed));
  CHECK_FALSE(matches(kByNetdev, unnamed));
  CHECK(matches(kByFunction, unnamed));
}

TEST_CASE("the table that matches counts, else the one for every adapter") {
  Config config;
  config.every_adapter.mtu = 1400;
  CHECK(find_config(config, names()).value() == &config.every_adapter);
  config.adapters = {with_mtu({{}, {}, "ens256f0"}, 1), with_mtu(kByNetdev, 2)};
  CHECK(find_config(config, names()).value()->mtu == 2U);
}

TEST_CASE("two tables that match one adapter by different keys are an Error") {
  Config config;
  for (const AdapterMatch& other : {kByNetdev, kByFunction, kByNetFunction}) {
    config.adapters = {with_mtu(kByMac, 1), with_mtu({{}, {}, "ens256f0"}, 2), with_mtu(other, 3)};
    const auto found = find_config(config, names());
    REQUIRE_FALSE(found);
    CHECK(found.error().code == EEXIST);
    CHECK(found.error().what == to_string(kByMac) + " and " + to_string(other));
  }
}

TEST_CASE("the device's own MAC matches as well, and comes before the MAC that was set") {
  AdapterNames changed = names();
  changed.mac = std::string{"02:00:00:00:00:01"};
  CHECK_FALSE(matches(kByMac, changed));
  changed.permanent_mac = std::string{"00:50:56:8a:9f:c2"};
  CHECK(matches(kByMac, changed));
  Config config;
  config.adapters = {with_mtu({"02:00:00:00:00:01", {}, {}}, 1)};
  CHECK(find_config(config, changed).value()->mtu == 1U);
  // The second link of a bond has the first one's MAC.
  config.adapters.push_back(with_mtu(kByMac, 2));
  CHECK(find_config(config, changed).value()->mtu == 2U);
  std::swap(config.adapters[0], config.adapters[1]);
  CHECK(find_config(config, changed).value()->mtu == 2U);
  config.adapters.push_back(with_mtu(kByNetdev, 3));
  CHECK(find_config(config, changed).error().code == EEXIST);
  changed.permanent_mac = Field<std::string>::unreadable(kDenied);
  CHECK_FALSE(find_config(config, changed));
}

TEST_CASE("an unreadable field makes the match unknown, unless an earlier table matches") {
  Config config;
  config.adapters = {with_mtu(kByFunction, 1), with_mtu(kByMac, 2)};
  AdapterNames unread = names();
  unread.mac = Field<std::string>::unreadable(kDenied);
  CHECK(find_config(config, unread).value()->mtu == 1U);
  std::swap(config.adapters[0], config.adapters[1]);
  REQUIRE_FALSE(find_config(config, unread));
  CHECK(find_config(config, unread).error() == kDenied);
  config.adapters = {with_mtu(kByNetdev, 3), with_mtu(kByMac, 2)};
  CHECK(find_config(config, unread).value()->mtu == 3U);
  unread.netdev = Field<std::string>::unreadable(kDenied);
  CHECK_FALSE(find_config(config, unread));
}

TEST_CASE("the names of an adapter of the Snapshot") {
  Adapter adapter;
  adapter.function = "0000:13:00.1";
  adapter.net_function = "0000:13:00.0";
  CHECK(names_of(adapter).mac.is_absent());
  Netdev netdev;
  netdev.name = "ens224f0";
  netdev.mac = "00:50:56:8a:9f:c2";
  adapter.netdev = netdev;
  CHECK(names_of(adapter).permanent_mac.is_absent());
  for (const AdapterMatch& match : {kByMac, kByFunction, kByNetFunction, kByNetdev})
    CHECK(matches(match, names_of(adapter)));
  adapter.netdev = Field<Netdev>::unreadable(kDenied);
  CHECK(names_of(adapter).mac.is_unreadable());
  CHECK(names_of(adapter).netdev.is_unreadable());
}
