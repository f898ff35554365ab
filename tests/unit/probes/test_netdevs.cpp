// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/netdevs.hpp"

#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <thread>

#include "agent/base/handle.hpp"
#include "probes/udev.hpp"
#include "tests/unit/probes/bytes.hpp"
#include "tests/unit/probes/tree.hpp"

using namespace pvrdma;
using pvrdma::test::Bytes;

namespace {

// Runs ip(8); false: it is missing or refuses.
bool ip(const std::string& arguments) {
  return std::system(("ip " + arguments + " 2>/dev/null").c_str()) == 0;
}

// A network namespace for one test; empty: this user may not have one.
class PrivateNetwork {
 public:
  PrivateNetwork() : home_(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)) {
    entered_ = home_ && ::unshare(CLONE_NEWNET) == 0;
  }
  PrivateNetwork(const PrivateNetwork&) = delete;
  PrivateNetwork& operator=(const PrivateNetwork&) = delete;
  PrivateNetwork(PrivateNetwork&&) = delete;
  PrivateNetwork& operator=(PrivateNetwork&&) = delete;
  ~PrivateNetwork() {
    if (entered_) static_cast<void>(::setns(home_.get(), CLONE_NEWNET));
  }
  explicit operator bool() const { return entered_; }

 private:
  Fd home_;
  bool entered_ = false;
};

Netdev only(const std::string& name) {
  const auto links = test::parsed_answer(name, probes::parse_link);
  REQUIRE(links.size() == 1);
  return links[0];
}

}  // namespace

TEST_CASE("a link that is up") {
  Netdev expected;
  expected.name = "ens16f0";
  expected.index = 2;
  expected.mac = "00:50:56:00:00:10";
  expected.permanent_mac = "00:50:56:00:00:10";
  expected.mtu = 1500;
  expected.mtu_min = 60U;
  expected.mtu_max = 9000U;
  expected.link_up = true;
  expected.carrier = true;
  expected.operstate = "up";
  CHECK(only("link-up") == expected);
}

TEST_CASE("a link that is down tells no carrier") {
  const Netdev down = only("link-down");
  CHECK_FALSE(down.link_up);
  CHECK(down.carrier.is_absent());
  CHECK(down.operstate == "down");
}

TEST_CASE("addresses in the kernel's order, both families") {
  std::vector<std::string> of_ens16f0;
  for (const auto& address : test::parsed_answer("addresses", probes::parse_address))
    if (address.link == 2) of_ens16f0.push_back(address.address.text);
  CHECK(of_ens16f0 == std::vector<std::string>{"192.168.30.201/24", "fe80::250:56ff:fe00:10/64"});
}

TEST_CASE("messages of another type are refused") {
  Bytes link{test::captured("link-up").at(0)};
  Bytes address{test::captured("addresses").at(0)};
  CHECK_FALSE(probes::parse_address(link.message()));
  CHECK_FALSE(probes::parse_link(address.message()));
}

TEST_CASE("rtnetlink: damaged messages cause no crash") {
  test::survive_mutations("link-up", probes::parse_link);
  test::survive_mutations("addresses", probes::parse_address);
}

TEST_CASE("the kernel's own links") {
  const PrivateNetwork network;
  if (!network || !ip("link add pvt0 type veth peer name pvt1")) {
    WARN("skipped: needs root, ip(8) and network namespaces");
    return;
  }
  REQUIRE(ip("link set pvt0 address 02:00:00:00:00:01 mtu 9000"));
  REQUIRE(ip("address add 192.168.30.202/24 dev pvt0"));
  REQUIRE(ip("address add 192.168.30.201/25 dev pvt0"));
  REQUIRE(ip("address add 10.0.0.1 peer 10.0.0.2/32 dev pvt0"));
  auto netdevs = probes::look_at_netdevs({"nowhere0", "pvt0", "a-name-longer-than-ifnamsiz"});
  REQUIRE(netdevs.size() == 3);
  CHECK(netdevs[0].is_absent());
  CHECK_FALSE(netdevs[2].is_known());
  REQUIRE(netdevs[1].is_known());
  const Netdev down = *netdevs[1].get();
  CHECK(down.name == "pvt0");
  CHECK(down.mac == "02:00:00:00:00:01");
  CHECK(down.mtu == 9000);
  CHECK_FALSE(down.link_up);
  CHECK(down.carrier.is_absent());
  CHECK(down.addresses ==
        std::vector<LinkAddress>{{"192.168.30.202/24"}, {"192.168.30.201/25"}, {"10.0.0.1/32"}});
  REQUIRE(ip("link set pvt0 up"));
  // A work of the kernel sets it, up to a second later for a link that is down (Linux
  // net/core/link_watch.c).
  for (int tries = 0; tries < 200; ++tries) {
    netdevs = probes::look_at_netdevs({"pvt0"});
    if (!netdevs.at(0).is_known() || netdevs[0].get()->operstate != "unknown") break;
    ::poll(nullptr, 0, 50);
  }
  REQUIRE(netdevs.at(0).is_known());
  CHECK(netdevs[0].get()->link_up);
  CHECK(netdevs[0].get()->carrier.is(false));  // the other end is down
  CHECK(netdevs[0].get()->operstate == "lowerlayerdown");
  REQUIRE(ip("link set pvt1 up"));
  CHECK(probes::look_at_netdevs({"pvt0"}).at(0).get()->carrier.is(true));
}

TEST_CASE("the kernel's own default routes, even from a kernel that sends the whole table") {
  const PrivateNetwork network;
  if (!network || !ip("link add pvt0 type veth peer name pvt1")) {
    WARN("skipped: needs root, ip(8) and network namespaces");
    return;
  }
  const auto routed = [](bool strictly) {
    auto socket = NetlinkSocket::open(NETLINK_ROUTE);
    REQUIRE(socket);
    const int strict = strictly ? 1 : 0;
    REQUIRE(::setsockopt(socket->fd(), SOL_NETLINK, NETLINK_GET_STRICT_CHK, &strict,
                         sizeof strict) == 0);
    std::string having;
    for (const char* name : {"pvt0", "pvt1", "lo"}) {
      const auto one = probes::has_default_route(*socket, static_cast<int>(::if_nametoindex(name)));
      having += !one ? one.error().message() : *one ? std::string{name} + " " : "";
    }
    return having;
  };
  for (const bool strictly : {true, false}) {
    CHECK(routed(strictly).empty());  // there is no table yet
    REQUIRE(ip("link set lo up && ip link set pvt0 up && ip link set pvt1 up"));
    REQUIRE(ip("route add 10.1.0.0/16 dev pvt0"));
    CHECK(routed(strictly).empty());
    REQUIRE(ip("route add default dev pvt0"));
    CHECK(routed(strictly) == "pvt0 ");
    REQUIRE(ip("route replace default nexthop dev pvt0 nexthop dev pvt1"));
    CHECK(routed(strictly) == "pvt0 pvt1 ");
    REQUIRE(ip("route del default && ip -6 route add default dev pvt1"));
    CHECK(routed(strictly) == "pvt1 ");
    REQUIRE(ip("-6 route del default && ip route add default dev pvt0 table 7"));
    CHECK(routed(strictly).empty());
    REQUIRE(ip("link set pvt0 down && ip link set pvt1 down"));
  }
}

// Five thousand addresses, as kube-proxy gives them to one interface of a node, and veths that come
// and go with the node's containers.
TEST_CASE("another interface's addresses, and links that come and go, disturb no look") {
  const PrivateNetwork network;
  if (!network || !ip("link add pvt0 type veth peer name pvt1")) {
    WARN("skipped: needs root, ip(8) and network namespaces");
    return;
  }
  REQUIRE(ip("link add services0 type veth peer name services1"));
  REQUIRE(ip("address add 192.168.30.201/24 dev pvt0 && ip link set pvt0 up"));
  REQUIRE(std::system("for i in $(seq 1 20); do for j in $(seq 1 250); do "
                      "echo address add 10.96.$i.$j/32 dev services0; done; done | ip -batch -") ==
          0);
  std::atomic<bool> over{false};
  std::thread churn{[&] {  // in the network namespace of the thread that starts it
    while (!over) ip("link add v0 type veth peer name v1 && ip link del v0");
  }};
  for (int look = 0; look < 300; ++look) {
    const auto netdev = probes::look_at_netdevs({"pvt0"}).at(0);
    INFO("look " << look << ": "
                 << (netdev.is_unreadable() ? netdev.error()->message() : std::string{"read"}));
    CHECK(netdev.is_known());
    if (const Netdev* seen = netdev.get())
      CHECK(seen->addresses == std::vector<LinkAddress>{{"192.168.30.201/24"}});
  }
  over = true;
  churn.join();
}

TEST_CASE("the last free descriptor suffices for a look, and without one no netdev seems absent") {
  const auto seen = probes::look_at_netdevs({"lo"});
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const int lowest_free = ::dup(STDIN_FILENO);
  REQUIRE(::close(lowest_free) == 0);
  const auto look_with = [&](int descriptors) {
    const rlimit few{static_cast<rlim_t>(lowest_free + descriptors), before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    auto looked = probes::look_at_netdevs({"lo"});
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    return looked;
  };
  CHECK(look_with(1) == seen);
  const auto without = look_with(0);
  REQUIRE(without.size() == 1);
  CHECK(without[0].is_unreadable());
}

TEST_CASE("without names nothing is asked") { CHECK(probes::look_at_netdevs({}).empty()); }

TEST_CASE("a netdev that was renamed is found by sysfs") {
  const test::Tree tree;
  const auto netdev = tree.root() / "/sys/class/net/ens16f0";
  CHECK_FALSE(probes::was_renamed(netdev));
  tree.file("/sys/class/net/ens16f0/name_assign_type", "2\n");
  CHECK_FALSE(probes::was_renamed(netdev));
  tree.file("/sys/class/net/ens16f0/name_assign_type", "4\n");
  CHECK(probes::was_renamed(netdev));
}

TEST_CASE("without udevd every interface is settled") {
  const test::Tree tree;
  CHECK(probes::udev_settled(tree.root(), 1).is(true));
  tree.unreadable("/run/udev/control");
  CHECK(probes::udev_settled(tree.root(), 1).is_unreadable());
}

TEST_CASE("with udevd the interface is asked for by its index") {
  const test::Tree tree;
  tree.file("/run/udev/control", "");
  CHECK_FALSE(probes::udev_settled(tree.root(), 0x7ffffff).is_known());
}
