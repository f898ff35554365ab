// SPDX-License-Identifier: GPL-2.0-or-later
// `mtu` by the real ping over the loopback and over veths of this test's own. The lab has more.
#include <sys/socket.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "agent/tools/mtu/command.hpp"
#include "agent/tools/mtu/measurement.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/executor/netns.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;

namespace {

fake::Printed run_mtu(const MtuOptions& options, bool json = false, bool live = false) {
  fake::Screen screen;
  screen.console.live = live;
  Settings settings;
  settings.json = json;
  const int code = mtu(settings, screen.console, options);
  return {code, screen.out(), screen.err()};
}

// Whether there is a ping, and it may send.
bool can_ping(const std::string& host) {
  const fake::Printed told = run_mtu({{host}});
  if (told.code == 0) return true;
  WARN("skipped: no ping to " << host << ": " << told.err);
  return false;
}

// me --9000-- router --1500-- far, and me --9000-- hole, which receives no more than 1500 (veth
// allows for a VLAN tag). Link N is 10.9.N.0/24 and fd09:N::/64, its near end .1, its far end .2.
class Network {
 public:
  Network() {
    if (!me_.entered() || ::access(kForward, W_OK) != 0) return;
    const Fd me = this_namespace();
    for (Fd& place : others_) place = another();
    const auto& [router, far, hole] = others_;
    connect(me, "9000", router, "9000", "1");
    connect(router, "1500", far, "1500", "2");
    connect(me, "9000", hole, "1496", "3");
    enter(router);
    test::run(std::string{"for file in "} + kForward +
              " /proc/sys/net/ipv6/conf/all/forwarding; do echo 1 >$file; done");
    enter(me);
    test::run(
        "ip link set lo up; ip route add 10.9.2.0/24 via 10.9.1.2; ip route add fd09:2::/64 via "
        "fd09:1::2");
    is_there = true;
  }
  bool is_there = false;

 private:
  static constexpr const char* kForward = "/proc/sys/net/ipv4/ip_forward";

  static Fd this_namespace() {
    return Fd{::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)};
  }
  static Fd another() {
    REQUIRE(::unshare(CLONE_NEWNET) == 0);
    return this_namespace();
  }
  static void enter(const Fd& place) { REQUIRE(::setns(place.get(), CLONE_NEWNET) == 0); }
  static void connect(const Fd& near, const std::string& near_mtu, const Fd& far,
                      const std::string& far_mtu, const std::string& number) {
    enter(near);
    const std::string link = "l" + number;
    test::run("ip link add " + link + " mtu " + near_mtu + " type veth peer name " + link +
              " mtu " + far_mtu + " netns /proc/" + std::to_string(::getpid()) + "/fd/" +
              std::to_string(far.get()));
    address(number, "1");
    enter(far);
    address(number, "2");
    test::run("ip route add default via 10.9." + number +
              ".1; ip route add default via fd09:" + number + "::1");
  }
  static void address(const std::string& number, const std::string& end) {
    const std::string on = " dev l" + number;
    test::run("ip address add 10.9." + number + "." + end + "/24" + on + "; ip address add fd09:" +
              number + "::" + end + "/64" + on + " nodad; ip link set l" + number + " up");
  }

  test::Namespace me_;
  std::array<Fd, 3> others_;  // they last as long as these
};

}  // namespace

TEST_CASE("a link, a router that tells, a hole, and no host at all") {
  const Network network;
  if (!network.is_there || !std::filesystem::exists("/usr/bin/ping")) return;
  MtuOptions options{{"10.9.1.2", "10.9.2.2", "fd09:2::2", "10.9.3.2", "10.9.1.77"}};
  const fake::Printed told = run_mtu(options, true);
  INFO(told.out << told.err);
  CHECK(told.code == 3);
  const Json object = Json::parse(told.out);
  const auto check = [&](std::size_t at, unsigned mtu, const char* limit, const Json& router) {
    const Json& host = object["hosts"][at];
    CHECK(host["address"] == options.hosts[at]);
    CHECK(host["mtu_bytes"] == mtu);
    CHECK(host["limited_by"] == limit);
    CHECK(host["link_mtu_bytes"] == 9000);
    CHECK(host["interface"] == (at == 3 ? "l3" : "l1"));
    CHECK(host["router"] == router);
  };
  check(0, 9000, "local-link", {});
  check(1, 1500, "router", "10.9.1.2");
  check(2, 1500, "router", "fd09:1::2");
  check(3, 1500, "silence", {});
  const std::string error = object["hosts"][4]["error"];
  CHECK(error.find("10.9.1.1 says: Destination Host Unreachable") != std::string::npos);
  CHECK(object["minimum_mtu_bytes"] == 1500);
  // The kernel remembers 1500 now; whether ping heeds that depends on its version.
  options.hosts = {"10.9.2.2", "fd09:2::2"};
  const Json again = Json::parse(run_mtu(options, true).out);
  for (const Json& host : again["hosts"]) {
    CHECK(host["mtu_bytes"] == 1500);
    CHECK(host["limited_by"] == "router");
  }
}

TEST_CASE("this host itself takes the largest packet there is") {
  for (const std::string host : {"127.0.0.1", "::1"}) {
    if (!can_ping(host)) continue;
    const fake::Printed told = run_mtu({{host}});
    CHECK(told.err.empty());
    CHECK(told.out.find(host + ": MTU 65535, the largest packet IP has (3 probes, ") == 0);
  }
}

TEST_CASE("a ping that stands still is ended in time; one that is missing or another is told") {
  const test::Tree tree;
  MtuOptions options{{"127.0.0.1", "127.0.0.2"}};
  options.folders = {(tree / "/bin").string()};
  options.timeout = Milliseconds{300};
  fake::Printed told = run_mtu(options);
  CHECK(told.code == 3);
  CHECK(told.err.find("pvrdma-agentctl: there is no ping of iputils (install iputils-ping on ") ==
        0);
  CHECK(run_mtu(options, true).out.find("iputils-ping") != std::string::npos);
  const std::string version = "[ $1 != -V ] || exec echo ping from iputils 20221126; ";
  tree.program("/bin/ping", version + "trap '' INT TERM; while :; do sleep 1; done\n");
  const BootTime started = BootClock::now();
  told = run_mtu(options);
  CHECK(BootClock::now() - started < Milliseconds{3000});
  CHECK(told.code == 3);
  CHECK(told.err.find("127.0.0.1, 127.0.0.2: waiting for ") != std::string::npos);
  tree.program("/bin/ping", version + "echo \"ping: no such luck\" >&2; exit 2\n");
  CHECK(run_mtu(options).err ==
        "pvrdma-agentctl: 127.0.0.1, 127.0.0.2: ping says ping: no such luck\n");
  tree.program("/bin/ping", "echo \"ping: invalid option -- 'V'\" >&2; exit 64\n");
  CHECK(run_mtu(options).err.find("/bin/ping is not ping of iputils (install iputils-ping on ") !=
        std::string::npos);
  tree.program("/bin/ping", "while :; do echo PING; done\n");
  CHECK(run_mtu(options).code == 3);
}

TEST_CASE("several hosts at once, as JSON; one that is none does not keep the others") {
  if (!can_ping("127.0.0.1")) return;
  const fake::Printed told = run_mtu({{"127.0.0.1", "no such host", "127.0.0.2"}}, true);
  CHECK(told.code == 3);
  CHECK(told.err.empty());
  const Json object = Json::parse(told.out);
  REQUIRE(object["hosts"].size() == 3);
  CHECK(object["hosts"][0]["mtu_bytes"] == 65535);
  CHECK(object["hosts"][1]["mtu_bytes"].is_null());
  CHECK(object["hosts"][1]["error"].get<std::string>().find("no such host: ") != std::string::npos);
  CHECK(object["hosts"][2]["mtu_bytes"] == 65535);
  CHECK(object["minimum_mtu_bytes"] == 65535);
}

TEST_CASE("an address of the other family is refused in one line") {
  if (!can_ping("127.0.0.1")) return;
  const fake::Printed told = run_mtu({{"127.0.0.1"}, AF_INET6});
  CHECK(told.code == 3);
  CHECK(told.out.empty());
  CHECK(told.err.find("pvrdma-agentctl: 127.0.0.1: ping says ") == 0);
  CHECK(told.err.find('\n') == told.err.size() - 1);
}

TEST_CASE("progress is shown on a terminal, and cleared at the end") {
  if (!can_ping("127.0.0.1")) return;
  const fake::Printed told = run_mtu({{"127.0.0.1", "127.0.0.2"}}, false, true);
  CHECK(told.out.find("\r\x1b[K2 of 2 hosts done, 6 probes\r\x1b[K127.0.0.1: MTU") !=
        std::string::npos);
}

TEST_CASE("the exit code says whether what is expected passes") {
  if (!can_ping("127.0.0.1")) return;
  MtuOptions options{{"127.0.0.1"}};
  options.expect = 65535;
  const fake::Printed told = run_mtu(options);
  CHECK(told.code == 0);
  CHECK(told.out.find("expected: packets of 65535 bytes pass\n") != std::string::npos);
  options.expect = 65536;  // which no path carries
  CHECK(run_mtu(options).code == 2);
  options.hosts = {"no such host"};
  CHECK(run_mtu(options).code == 3);
}

TEST_CASE("only a PVRDMA adapter can be measured from, by any of its names") {
  const test::Tree tree;
  const std::string slot = "/sys/bus/pci/devices/0000:13:00.";
  tree.file(slot + "1/modalias", "pci:v000015ADd00000820sv000015ADsd00000820bc02sc80i00\n");
  tree.directory(slot + "1/infiniband/rocep19s0f1");
  if (!can_ping("127.0.0.1")) return;
  MtuOptions options{{"127.0.0.1"}};
  options.root = tree.root();
  options.adapter = "eth0";
  fake::Printed told = run_mtu(options);
  CHECK(told.code == 3);
  CHECK(told.err == "pvrdma-agentctl: there is no PVRDMA adapter eth0\n");
  options.adapter = "0000:13:00.1";
  told = run_mtu(options);
  CHECK(told.code == 3);
  CHECK(told.err.find("0000:13:00.1 has none") != std::string::npos);
  tree.file(slot + "0/modalias", "pci:v000015ADd000007B0sv000015ADsd000007B0bc02sc00i00\n");
  tree.directory(slot + "0/net/lo");
  for (const char* name : {"0000:13:00.1", "0000:13:00.0", "lo", "rocep19s0f1"}) {
    const auto found = pmtu::interface_of_adapter(tree.root(), name);
    REQUIRE(found);
    CHECK(*found == "lo");
  }
  told = run_mtu(options, true);
  CHECK(told.code == 0);
  CHECK(Json::parse(told.out)["hosts"][0]["interface"] == "lo");
}
