// SPDX-License-Identifier: GPL-2.0-or-later
// Links on the real kernel, in a network namespace; ip(8) sets them up and reads them.
#include <cerrno>

#include "agent/executor/link.hpp"
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
  std::vector<probes::RecordedAddress> records;

  LinkFixture() {
    if (!space.entered()) return;
    // Duplicate address detection takes seconds; only the test about it turns it on.
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
  // Sets these addresses, with no others configured.
  OperationResult configure(RouteSocket& socket, const std::vector<std::string>& addresses,
                            std::optional<unsigned> mtu = {}) {
    return configure_link(socket, index, {mtu, addresses, addresses}, records,
                          [](const AddressRecords&) -> Result<void> { return {}; });
  }
  static std::string flags() { return run("ip -o link show dev v0"); }
};

}  // namespace

TEST_CASE_METHOD(LinkFixture, "link: it comes up, and the second time there is nothing to do") {
  if (!space.entered()) return;
  auto socket = open();
  CHECK(flags().find("state DOWN") != std::string::npos);
  CHECK(configure(socket, {}).outcome == Outcome::Done);
  CHECK(flags().find(",UP") != std::string::npos);
  CHECK(configure(socket, {}).outcome == Outcome::AlreadyDone);
}

TEST_CASE_METHOD(LinkFixture, "link: other flags stay unchanged") {
  if (!space.entered()) return;
  run("ip link set v0 promisc on multicast off");
  auto socket = open();
  CHECK(configure(socket, {}).good());
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

TEST_CASE_METHOD(LinkFixture,
                 "link: no address is set beside the same one with another prefix length") {
  if (!space.entered()) return;
  auto socket = open();
  const std::vector<std::string> shorter{"192.168.30.201/24", "fd00::1/64"};
  const std::vector<std::string> longer{"192.168.30.201/25", "fd00::1/128"};
  const auto set_longer = [&](bool removes, const std::function<Alone()>& alone) {
    return configure_link(socket, index, {{}, longer, longer, removes, alone}, records,
                          [](const AddressRecords&) -> Result<void> { return {}; });
  };
  REQUIRE(configure(socket, shorter).outcome == Outcome::Done);
  const std::vector<std::string>* expected = &shorter;
  SECTION("the old one is removed before") {
    CHECK(set_longer(true, {}).outcome == Outcome::Done);
    expected = &longer;
  }
  SECTION("a job holds the old one") {
    const Alone held{OperationResult{Outcome::InUse, "in use by job (PID 7)", EBUSY, {}}};
    CHECK(set_longer(true, [&] { return held; }).outcome == Outcome::InUse);
  }
  SECTION("the old one is not to be removed") {
    const OperationResult result = set_longer(false, {});
    CHECK(result.outcome == Outcome::Failed);
    CHECK(result.code == EEXIST);
    CHECK(result.detail == "192.168.30.201/25 is not set: v0 has 192.168.30.201/24");
  }
  const std::string shown = run("ip -o address show dev v0");
  for (const auto* list : {&shorter, &longer})
    for (const std::string& address : *list)
      CHECK((shown.find(" " + address + " ") != std::string::npos) == (list == expected));
}

TEST_CASE_METHOD(LinkFixture, "link: IPv6 is not set where another program set another prefix") {
  if (!space.entered()) return;
  run("ip address add fd00::1/128 dev v0");
  run("ip address add 192.168.30.201/25 dev v0");
  // Else v1 answers for v0's address.
  run("echo 1 > /proc/sys/net/ipv4/conf/v1/arp_ignore");
  auto socket = open();
  const OperationResult result = configure(socket, {"fd00::1/64", "192.168.30.201/24"});
  CHECK(result.outcome == Outcome::Failed);
  CHECK(result.code == EEXIST);
  CHECK(result.detail == "fd00::1/64 is not set: v0 has fd00::1/128");
  // IPv4 has both.
  CHECK(run("ip -o address show dev v0").find(" 192.168.30.201/24 ") != std::string::npos);
}

TEST_CASE_METHOD(LinkFixture, "link: refusals of the kernel") {
  if (!space.entered()) return;
  auto socket = open();
  const OperationResult mtu = configure(socket, {}, 1000000);
  CHECK(mtu.outcome == Outcome::Failed);
  CHECK(mtu.detail.find("setting MTU 1000000") != std::string::npos);
  CHECK(mtu.code == EINVAL);
  for (const char* text : {"", "fd00::1", "fd00::1/129", "10.0.0.1/33", "10.0.0.1/x", "x/8"}) {
    INFO(text);
    CHECK(configure(socket, {text}).code == EINVAL);
  }
  CHECK(configure_link(socket, 9999, {}, records, {}).code == ENODEV);
}

TEST_CASE("link: the interface belongs to the PCI function") {
  const test::Tree tree;
  test::add_adapter(tree, "ens224f0", 42);
  CHECK(interface_of(tree.root(), test::kNetFunction, "ens224f0") == 42);
  const auto other = interface_of(tree.root(), test::kNetFunction, "eth0");
  REQUIRE_FALSE(other.has_value());
  CHECK(other.error().code == ENOENT);
  tree.file("/sys/bus/pci/devices/0000:13:00.0/net/ens224f0/ifindex", "0\n");
  CHECK_FALSE(interface_of(tree.root(), test::kNetFunction, "ens224f0").has_value());
}

}  // namespace pvrdma::executor
