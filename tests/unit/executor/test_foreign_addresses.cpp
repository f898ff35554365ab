// SPDX-License-Identifier: GPL-2.0-or-later
// Addresses that other programs set on our link, beside ours.
#include <linux/rtnetlink.h>

#include <utility>

#include "agent/base/netlink.hpp"
#include "probes/netdevs.hpp"
#include "tests/unit/executor/link_addresses_fixture.hpp"

namespace pvrdma::executor {

TEST_CASE_METHOD(LinkAddressesFixture,
                 "addresses: one that another program has set again is not ours any more") {
  if (!space.entered()) return;
  CHECK(configure({"192.168.30.201/24"}).outcome == Outcome::Done);
  REQUIRE(records.size() == 1);
  if (!records.front().marked) return;  // before Linux 5.18 nothing tells
  run("ip address replace 192.168.30.201/24 dev v0");
  CHECK(configure({"192.168.30.201/24", "192.168.30.202/24"}).outcome == Outcome::Done);
  CHECK(configure({"192.168.30.202/24"}).good());
  CHECK(has("192.168.30.201/24"));
}

TEST_CASE_METHOD(LinkAddressesFixture,
                 "addresses: ours stays while another program has the same with another prefix") {
  if (!space.entered()) return;
  // Otherwise v1 answers for v0's address, and would be taken for a host that has it.
  run("echo 1 > /proc/sys/net/ipv4/conf/v1/arp_ignore");
  CHECK(configure({"192.168.30.201/16"}).outcome == Outcome::Done);
  run("ip address add 192.168.30.201/24 dev v0");
  CHECK(configure({"192.168.30.201/24"}).good());
  CHECK(has("192.168.30.201/16"));
  run("ip address del 192.168.30.201/24 dev v0");
  CHECK(configure({"192.168.30.201/24"}).outcome == Outcome::Done);
  CHECK_FALSE(has("192.168.30.201/16"));
  CHECK(has("192.168.30.201/24"));
}

TEST_CASE_METHOD(LinkAddressesFixture,
                 "addresses: a new prefix is set beside ours while another program has a third") {
  if (!space.entered()) return;
  run("echo 1 > /proc/sys/net/ipv4/conf/v1/arp_ignore");
  CHECK(configure({"192.168.30.201/24"}).outcome == Outcome::Done);
  run("ip address add 192.168.30.201/16 dev v0");
  CHECK(configure({"192.168.30.201/25"}).outcome == Outcome::Done);
  for (const char* prefix : {"/24", "/16", "/25"})
    CHECK(has(std::string{"192.168.30.201"} + prefix));
  CHECK(configure({"192.168.30.201/25"}).outcome == Outcome::AlreadyDone);
  run("ip address del 192.168.30.201/16 dev v0");
  auto news = NetlinkSocket::subscribe(NETLINK_ROUTE, {RTNLGRP_IPV4_IFADDR});
  REQUIRE(news.has_value());
  CHECK(configure({"192.168.30.201/25"}).outcome == Outcome::Done);
  CHECK_FALSE(has("192.168.30.201/24"));
  CHECK(has("192.168.30.201/25"));
  // With the /24 goes the GID of both, and only a new address has one.
  std::vector<std::string> changes;
  while (news->read_events([&](nlmsghdr& message) {
    // parse_address() takes no others.
    const bool is_new = std::exchange(message.nlmsg_type, RTM_NEWADDR) == RTM_NEWADDR;
    const auto found = probes::parse_address(message);
    REQUIRE(found.has_value());
    changes.push_back((is_new ? "+" : "-") + found->address.text);
  }))
    continue;
  CHECK(changes ==
        std::vector<std::string>{"-192.168.30.201/24", "-192.168.30.201/25", "+192.168.30.201/25"});
  CHECK(configure({}).outcome == Outcome::Done);
  CHECK_FALSE(has("192.168.30.201/25"));  // it is still recorded as ours
}

TEST_CASE_METHOD(LinkAddressesFixture,
                 "addresses: ours stays when another program removes its own of that subnet") {
  if (!space.entered()) return;
  run("echo 0 > /proc/sys/net/ipv4/conf/v0/promote_secondaries");
  run("ip address add 192.168.30.1/24 dev v0");
  CHECK(configure({"192.168.30.201/24"}).outcome == Outcome::Done);
  run("ip address del 192.168.30.1/24 dev v0");
  CHECK(has("192.168.30.201/24"));
}

}  // namespace pvrdma::executor
