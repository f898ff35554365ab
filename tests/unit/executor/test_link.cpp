// Links on the real kernel, in a network namespace of their own; ip(8) sets up and looks.
#include <linux/rtnetlink.h>

#include <cerrno>

#include "agent/executor/link.hpp"
#include "agent/executor/saved_link.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/executor/netns.hpp"
#include "tests/unit/executor/tree.hpp"

namespace pvrdma::executor {

namespace {

using test::run;

// v0 is the link under test, v1 its other end.
struct LinkFixture {
  test::Namespace space;
  int index = 0;
  std::vector<probes::BookedAddress> book;

  LinkFixture() {
    if (!space.entered()) return;
    // Duplicate address detection takes seconds; the test that is about it turns it on.
    run("echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad || true");
    run("ip link add v0 type veth peer name v1");
    run("ip link set v1 up");
    index = test::index_of_link("v0");
  }
  static RouteSocket open() {
    auto socket = RouteSocket::open();
    REQUIRE(socket.has_value());
    return std::move(*socket);
  }
  // Addresses that are to be there; none but these are configured.
  Report configure(RouteSocket& socket, const std::vector<std::string>& addresses,
                   std::optional<unsigned> mtu = {}) {
    return configure_link(socket, index, {mtu, addresses, addresses}, book);
  }
  static std::string flags() { return run("ip -o link show dev v0"); }
};

// Everything on v0, without what time changes; the restored addresses skip duplicate detection, the
// kernel's own do not. Addresses in their order, which is an order of preference.
std::string everything() {
  test::wait_until_addresses_are_valid("v0");
  return run(
      "{ ip -o address show dev v0; { ip -4 route show table all dev v0; "
      "ip -6 route show table all dev v0; ip neighbour show dev v0 nud permanent; } | sort; } | "
      "sed -E 's/ expires [0-9]+sec//; s/ (valid|preferred)_lft [^ ]+//g; s/ nodad//; s/^[0-9]+: "
      "//'");
}

}  // namespace

TEST_CASE_METHOD(LinkFixture, "link: up, and nothing to do the second time") {
  if (!space.entered()) return;
  auto socket = open();
  CHECK(flags().find("state DOWN") != std::string::npos);
  CHECK(configure(socket, {}).outcome == Outcome::Done);
  CHECK(flags().find(",UP") != std::string::npos);
  CHECK(configure(socket, {}).outcome == Outcome::AlreadyDone);
}

TEST_CASE_METHOD(LinkFixture, "link: other flags stay as they are") {
  if (!space.entered()) return;
  run("ip link set v0 promisc on multicast off");
  auto socket = open();
  CHECK(configure(socket, {}).good());
  CHECK(bounce_link(socket, index).good());
  CHECK(flags().find("PROMISC") != std::string::npos);
  CHECK(flags().find("MULTICAST") == std::string::npos);
}

TEST_CASE_METHOD(LinkFixture, "link: MTU and addresses") {
  if (!space.entered()) return;
  auto socket = open();
  const std::vector<std::string> addresses{"192.168.30.201/24", "fd00::1/64"};
  CHECK(configure(socket, addresses, 9000).outcome == Outcome::Done);
  CHECK(flags().find("mtu 9000") != std::string::npos);
  const std::string shown = run("ip -o address show dev v0");
  CHECK(shown.find("inet 192.168.30.201/24 brd 192.168.30.255") != std::string::npos);
  CHECK(shown.find("inet6 fd00::1/64") != std::string::npos);
  CHECK(configure(socket, addresses, 9000).outcome == Outcome::AlreadyDone);
  CHECK(configure(socket, {"10.0.0.1/32"}, 9000).outcome == Outcome::Done);
}

TEST_CASE_METHOD(LinkFixture, "link: what the kernel refuses") {
  if (!space.entered()) return;
  auto socket = open();
  const Report mtu = configure(socket, {}, 1000000);
  CHECK(mtu.outcome == Outcome::Failed);
  CHECK(mtu.detail.find("setting MTU 1000000") != std::string::npos);
  CHECK(mtu.code == EINVAL);
  for (const char* text : {"", "fd00::1", "fd00::1/129", "10.0.0.1/33", "10.0.0.1/x", "x/8"}) {
    INFO(text);
    CHECK(configure(socket, {text}).code == EINVAL);
  }
  for (const Report& report : {configure_link(socket, 9999, {}, book), bounce_link(socket, 9999)})
    CHECK(report.code == ENODEV);
}

TEST_CASE_METHOD(LinkFixture, "link: a bounce loses nothing") {
  if (!space.entered()) return;
  run("echo 1 > /proc/sys/net/ipv6/conf/v0/accept_dad || true");
  run("ip link set v0 up");
  run("ip address add 192.168.30.1/24 dev v0");
  run("ip address add fd00:1::1/64 dev v0");
  run("ip address add fd00:1::2/64 dev v0 valid_lft 1000 preferred_lft 500");
  run("ip address add fd00:1::3/64 dev v0 noprefixroute");
  test::wait_until_addresses_are_valid("v0");
  run("ip route add 10.1.0.0/16 via 192.168.30.9 dev v0 proto static metric 50");
  run("ip route add 10.1.0.0/16 via 192.168.30.8 dev v0 proto static metric 60 mtu 1400");
  run("ip route add 10.2.0.0/16 dev v0 proto dhcp");
  run("ip route add 10.4.0.1 dev v0 scope link");
  run("ip route add 10.3.0.0/16 via 10.4.0.1 dev v0 table 100");
  run("ip route add default via 172.16.9.1 dev v0 onlink");
  run("ip -6 route add fd00:2::/48 via fe80::9 dev v0 proto static src fd00:1::1");
  run("ip -6 route add default via fe80::8 dev v0 proto ra expires 1800");
  run("ip neighbour add 192.168.30.9 lladdr 02:00:00:00:00:09 dev v0");
  run("ip neighbour add fd00:1::9 lladdr 02:00:00:00:00:09 dev v0");
  run("ip link set lo up");
  run("ip route add 10.9.0.0/16 dev lo");
  const std::string before = everything();
  auto socket = open();
  const Report report = bounce_link(socket, index);
  INFO(report.detail);
  CHECK(report.outcome == Outcome::Done);
  CHECK(report.detail.find("address fd00:1::1/64") != std::string::npos);
  CHECK(report.detail.find("route fd00:2::/48") != std::string::npos);
  CHECK(report.detail.find("192.168.30.1/24") == std::string::npos);  // was never lost
  CHECK(everything() == before);
  // Lifetimes run on, and do not start anew or turn into forever.
  CHECK(run("ip -6 route show default dev v0").find("expires 1") != std::string::npos);
  const std::string limited = run("ip -6 address show dev v0 to fd00:1::2");
  CHECK(limited.find("valid_lft forever") == std::string::npos);
  CHECK(bounce_link(socket, index).good());
  CHECK(everything() == before);
}

TEST_CASE_METHOD(LinkFixture, "link: a bounce really takes the link down") {
  if (!space.entered()) return;
  run("ip link set v0 up");
  run("ip -6 route add fd00:5::/48 dev v0 proto static");
  auto socket = open();
  // The kernel drops the route on down alone, so that it was restored shows that there was one.
  const Report report = bounce_link(socket, index);
  CHECK(report.detail.find("route fd00:5::/48") != std::string::npos);
}

TEST_CASE_METHOD(LinkFixture, "link: a bounce of a link that is down") {
  if (!space.entered()) return;
  auto socket = open();
  const Report report = bounce_link(socket, index);
  CHECK(report.outcome == Outcome::Done);
  CHECK(flags().find(",UP") != std::string::npos);
}

TEST_CASE_METHOD(LinkFixture, "link: no bounce that could not be undone") {
  if (!space.entered()) return;
  run("ip link set v0 up");
  run("ip address add 192.168.30.1/24 dev v0");
  std::string reason;
  SECTION("several paths") {
    run("ip link set v1 up");
    run("ip route add 10.1.0.0/16 nexthop via 192.168.30.8 nexthop via 192.168.30.9");
    reason = "10.1.0.0/16 has several paths";
  }
  SECTION("a nexthop object") {
    run("ip nexthop add id 7 via 192.168.30.9 dev v0");
    run("ip route add 10.1.0.0/16 nhid 7");
    reason = "nexthop object";
  }
  SECTION("a port of a bridge") {
    if (std::system("ip link add br0 type bridge 2>/dev/null") != 0) {
      WARN("skipped: this kernel has no bridges");
      return;
    }
    run("ip link set v0 master br0");
    reason = "is a port of";
  }
  SECTION("a VLAN on it") {
    if (std::system("ip link add link v0 name v0.5 type vlan id 5 2>/dev/null") != 0) {
      WARN("skipped: this kernel has no VLANs");
      return;
    }
    reason = "v0.5 stands on the link";
  }
  SECTION("a macvlan on it") {
    if (std::system("ip link add link v0 name mv0 type macvlan 2>/dev/null") != 0) {
      WARN("skipped: this kernel has no macvlan");
      return;
    }
    reason = "mv0 stands on the link";
  }
  run("ip -6 route add fd00:5::/48 dev v0 proto static");
  const std::string before = everything();
  auto socket = open();
  const Report report = bounce_link(socket, index);
  INFO(report.detail);
  CHECK(report.outcome == Outcome::NotAllowed);
  CHECK(report.detail.find(reason) != std::string::npos);
  CHECK(everything() == before);
}

TEST_CASE_METHOD(LinkFixture, "link: what cannot be given back is told") {
  if (!space.entered()) return;
  run("ip link set v0 up");
  auto socket = open();
  run("ip route add 10.1.0.0/16 dev v0");
  const auto saved = save_link(socket, index);
  REQUIRE(saved.has_value());
  // Nobody can bring a route back to a link that is down.
  run("ip link set v0 down");
  const auto restored = restore_link(socket, index, *saved);
  REQUIRE(restored.has_value());
  const auto& missing = restored->missing;
  CHECK(std::find(missing.begin(), missing.end(), "route 10.1.0.0/16") != missing.end());
}

TEST_CASE("link: the interface is the PCI function's") {
  const test::Tree tree;
  test::add_adapter(tree, "ens224f0", 42);
  CHECK(interface_of(tree.root(), test::kNetFunction, "ens224f0") == 42);
  const auto other = interface_of(tree.root(), test::kNetFunction, "eth0");
  REQUIRE_FALSE(other.has_value());
  CHECK(other.error().code == ENOENT);
  tree.file("/sys/bus/pci/devices/0000:13:00.0/net/ens224f0/ifindex", "0\n");
  CHECK_FALSE(interface_of(tree.root(), test::kNetFunction, "ens224f0").has_value());
}

TEST_CASE("link: messages that are none of ours") {
  alignas(nlmsghdr) std::array<char, 64> bytes{};
  auto& message = *reinterpret_cast<nlmsghdr*>(bytes.data());
  for (const std::uint16_t type : {RTM_NEWADDR, RTM_NEWROUTE, RTM_NEWNEIGH, RTM_NEWLINK}) {
    message.nlmsg_type = type;
    message.nlmsg_len = NLMSG_HDRLEN + 4;  // shorter than every header
    for (const auto parse : {address_item, route_item, neighbour_item}) {
      const auto item = parse(message, 1);
      REQUIRE_FALSE(item.has_value());
      CHECK(item.error().code == EBADMSG);
    }
    CHECK_FALSE(parse_link_facts(message).has_value());
  }
}

}  // namespace pvrdma::executor
