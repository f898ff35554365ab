// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/rdma.hpp"

#include <cerrno>

#include "tests/unit/catch.hpp"
#include "tests/unit/probes/tree.hpp"

using namespace pvrdma;
using pvrdma::test::Tree;

namespace {

constexpr const char* kPort = "/sys/bus/pci/devices/0000:13:00.1/infiniband/rocep19s0f1/ports/1";

Field<RdmaDevice> look(const Tree& tree, const RdmaDevice* before = nullptr) {
  const auto adapters = probes::find_adapters(tree.root());
  REQUIRE(adapters);
  Result<probes::Nldev> no_nldev = fail(EPROTONOSUPPORT, "asking", "nldev");
  return probes::look_at_rdma(tree.root(), adapters->at(0), no_nldev, before);
}

void set_gid(const Tree& tree, unsigned index, const std::string& gid) {
  tree.file(std::string{kPort} + "/gids/" + std::to_string(index), gid + "\n");
}

}  // namespace

TEST_CASE("sysfs's port states") {
  const auto state = [](const char* text) { return probes::parse_sysfs_state<PortState>(text); };
  const auto phys = [](const char* text) { return probes::parse_sysfs_state<PhysState>(text); };
  CHECK(state("4: ACTIVE") == PortState::Active);
  CHECK(state("1: DOWN") == PortState::Down);
  CHECK(phys("5: LinkUp") == PhysState::LinkUp);
  CHECK(phys("3: Disabled") == PhysState::Disabled);
  CHECK(phys("7: Phy Test") == PhysState::PhyTest);
  CHECK(phys("4: PortConfigurationTraining") == PhysState::Training);
  CHECK(to_string(*state("77: HIBERNATES")) == "UNKNOWN(77)");
  for (const char* bad : {"", "ACTIVE", ": ACTIVE", "x: ACTIVE", "4 ACTIVE", "256: ACTIVE"}) {
    INFO(bad);
    CHECK_FALSE(state(bad));
    CHECK_FALSE(phys(bad));
  }
}

TEST_CASE("GIDs as inet_ntop writes them") {
  CHECK(probes::parse_sysfs_gid("0000:0000:0000:0000:0000:ffff:c0a8:1ec9") ==
        "::ffff:192.168.30.201");
  CHECK(probes::parse_sysfs_gid("fe80:0000:0000:0000:0250:56ff:fe8a:9fc2") ==
        "fe80::250:56ff:fe8a:9fc2");
  CHECK(probes::parse_sysfs_gid("0000:0000:0000:0000:0000:0000:0000:0000") == "");
  CHECK_FALSE(probes::parse_sysfs_gid("zero"));
}

TEST_CASE("an RDMA device from sysfs, where nldev is not there") {
  const Tree tree;
  test::bound_adapter(tree, "13:00", "ens224f0", "rocep19s0f1", "uverbs0");
  const auto field = look(tree);
  REQUIRE(field.is_known());
  const RdmaDevice& device = *field.get();
  CHECK(device.name == "rocep19s0f1");
  CHECK(device.uverbs.is("uverbs0"));
  CHECK(device.node_guid.is("0250:56ff:fe00:0010"));
  CHECK(device.port.state.is(PortState::Active));
  CHECK(device.port.phys_state.is(PhysState::LinkUp));
  CHECK(device.port.link_layer.is("Ethernet"));
  CHECK(device.port.verbs_state.is_absent());
  // Only nldev knows the pair: an unknown pair is not the same as no pair.
  CHECK(device.netdev.is_unreadable());
  REQUIRE(device.gids.size() == 2);
  CHECK(device.gids[0] ==
        Gid{0, "fe80::250:56ff:fe00:10", std::string{"IB/RoCE v1"}, std::string{"ens224f0"}});
  CHECK(device.gids[1].gid == "::ffff:192.168.30.201");
}

TEST_CASE("a device that udev renames after it was listed is found by its new name") {
  const Tree tree;
  test::bound_adapter(tree, "13:00", "ens224f0", "vmw_pvrdma0", "uverbs0");
  const auto adapters = probes::find_adapters(tree.root());
  REQUIRE(adapters.has_value());
  const auto devices = tree / "/sys/bus/pci/devices/0000:13:00.1/infiniband";
  std::filesystem::rename(devices / "vmw_pvrdma0", devices / "rocep19s0f1");
  Result<probes::Nldev> no_nldev = fail(EPROTONOSUPPORT, "asking", "nldev");
  const auto field = probes::look_at_rdma(tree.root(), adapters->at(0), no_nldev, nullptr);
  REQUIRE(field.is_known());
  CHECK(field.get()->name == "rocep19s0f1");
  CHECK(field.get()->port.state.is(PortState::Active));
}

TEST_CASE("parts that are missing or cannot be read") {
  const Tree tree;
  test::bound_adapter(tree, "13:00", "ens224f0", "rocep19s0f1", "uverbs0");
  tree.remove(std::string{kPort} + "/gid_attrs/types/0");
  tree.remove("/sys/bus/pci/devices/0000:13:00.1/infiniband_verbs");
  tree.remove(std::string{kPort} + "/state");
  tree.unreadable(std::string{kPort} + "/state");
  tree.file(std::string{kPort} + "/phys_state", "garbage\n");
  const auto field = look(tree);
  REQUIRE(field.is_known());
  CHECK(field.get()->uverbs.is_absent());
  CHECK(field.get()->port.state.is_unreadable());
  CHECK(field.get()->port.phys_state.is_unreadable());
  CHECK(field.get()->gids.at(0).type.is_absent());
  // The file disappears between the look at the function and this one.
  tree.remove("/sys/bus/pci/devices/0000:13:00.1/infiniband/rocep19s0f1/node_guid");
  CHECK(look(tree).is_absent());
  tree.remove("/sys/bus/pci/devices/0000:13:00.1/infiniband");
  CHECK(look(tree).is_absent());
}

TEST_CASE("a second look sees every change of the GIDs that the kernel can make") {
  const Tree tree;
  test::bound_adapter(tree, "13:00", "ens224f0", "rocep19s0f1", "uverbs0");
  const auto first = look(tree);
  const RdmaDevice* before = first.get();
  REQUIRE(before != nullptr);
  CHECK(look(tree, before) == first);
  SECTION("one added, to the lowest free entry") {
    set_gid(tree, 2, "0000:0000:0000:0000:0000:ffff:c0a8:1eca");
  }
  SECTION("two added: the second is found because the first is") {
    set_gid(tree, 2, "0000:0000:0000:0000:0000:ffff:c0a8:1eca");
    set_gid(tree, 7, "0000:0000:0000:0000:0000:ffff:c0a8:1ecb");
  }
  SECTION("one removed") { set_gid(tree, 1, "0000:0000:0000:0000:0000:0000:0000:0000"); }
  SECTION("one replaced by another type") {
    tree.file(std::string{kPort} + "/gid_attrs/types/1", "RoCE v2\n");
  }
  SECTION("the netdev renamed") { tree.file(std::string{kPort} + "/gid_attrs/ndevs/1", "rdma0\n"); }
  const auto second = look(tree, before);
  CHECK(second == look(tree));
  CHECK_FALSE(second == first);
}

TEST_CASE("a GID is seen behind deleted entries that queue pairs still hold") {
  const Tree tree;
  test::bound_adapter(tree, "13:00", "ens224f0", "rocep19s0f1", "uverbs0");
  for (const unsigned index : {2U, 3U, 4U})
    set_gid(tree, index, "0000:0000:0000:0000:0000:ffff:c0a8:1f0" + std::to_string(index));
  const auto before = look(tree);
  REQUIRE(before.get()->gids.size() == 5);
  const unsigned index = GENERATE(6U, 12U);
  for (unsigned held = 5; held < index; ++held)
    set_gid(tree, held, "0000:0000:0000:0000:0000:0000:0000:0000");
  set_gid(tree, index, "0000:0000:0000:0000:0000:ffff:c0a8:1eca");
  const auto seen = look(tree, before.get());
  CHECK(seen == look(tree));
  CHECK(seen.get()->gids.back().index == index);
}

TEST_CASE("from an empty table, entries reserved for default GIDs hide none") {
  const Tree tree;
  test::bound_adapter(tree, "13:00", "ens224f0", "rocep19s0f1", "uverbs0");
  for (const unsigned index : {0U, 1U})
    set_gid(tree, index, "0000:0000:0000:0000:0000:0000:0000:0000");
  const auto empty = look(tree);
  REQUIRE(empty.get()->gids.empty());
  set_gid(tree, 3, "0000:0000:0000:0000:0000:ffff:c0a8:1ec9");
  CHECK(look(tree, empty.get()).get()->gids.size() == 1);
}

TEST_CASE("udev's link to the verbs node tells the name it was made under") {
  const Tree tree;
  tree.link("/dev/infiniband/by-ibdev/uverbs-vmw_pvrdma0", "../uverbs0");
  tree.link("/dev/infiniband/by-ibdev/uverbs-rocep19s0f1", "../uverbs0");
  tree.link("/dev/infiniband/by-ibdev/uverbs-vmw_pvrdma1", "../uverbs1");
  tree.link("/dev/infiniband/by-ibdev/umad-vmw_pvrdma0-1", "../umad0");
  RdmaDevice device;
  device.name = "rocep19s0f1";
  CHECK(probes::names_of_links(tree.root(), device).empty());
  device.uverbs = std::string{"uverbs0"};
  CHECK(probes::names_of_links(tree.root(), device) == std::vector<std::string>{"vmw_pvrdma0"});
}
