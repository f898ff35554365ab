// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/pci.hpp"

#include <cerrno>

#include "tests/unit/catch.hpp"
#include "tests/unit/probes/tree.hpp"

using namespace pvrdma;
using pvrdma::test::Tree;

TEST_CASE("only the kernel's form of a PCI address is accepted") {
  for (const char* good : {"0000:13:00.1", "0000:ff:1f.7", "10000:e1:00.0", "0001abcd:00:00.0"}) {
    INFO(good);
    CHECK(probes::is_pci_address(good));
  }
  for (const char* bad :
       {"", "0000:13:00", "13:00.1", "0000:13:00.8", "0000:13:00.1 ", " 0000:13:00.1",
        "0000:13:00.1/", "0000:13:0G.1", "0000:13:00.A", "0000:1A:00.1", "../0:13:00.1",
        "0000:13/00.1", "0000:13:00.10", "000000000:13:00.1", "000/:13:00.1", "..../../../x"}) {
    INFO(bad);
    CHECK_FALSE(probes::is_pci_address(bad));
  }
}

TEST_CASE("adapters are the PVRDMA functions with the vmxnet3 function of their slot") {
  const Tree tree;
  test::bound_adapter(tree, "1b:00", "ens256f0", "rocep27s0f1", "uverbs1");
  test::bound_adapter(tree, "13:00", "ens224f0", "rocep19s0f1", "uverbs0");
  // A regular vmxnet3 adapter and a function of another vendor with the same device number.
  test::pci_function(tree, "0000:0b:00.0", "15AD", "07B0", "vmxnet3");
  test::pci_function(tree, "0000:0c:00.0", "8086", "0820", "other");
  const auto adapters = probes::find_adapters(tree.root());
  REQUIRE(adapters);
  REQUIRE(adapters->size() == 2);
  const probes::PciAdapter& first = adapters->front();
  CHECK(first.function == "0000:13:00.1");
  CHECK(first.net_function == "0000:13:00.0");
  CHECK(first.driver.is("vmw_pvrdma"));
  CHECK(first.net_driver.is("vmxnet3"));
  CHECK(first.netdev.is("ens224f0"));
  CHECK(first.rdma_device.is("rocep19s0f1"));
  CHECK(adapters->back().function == "0000:1b:00.1");
}

TEST_CASE("an unbound function's driver is absent, an unreadable one is unreadable") {
  const Tree tree;
  test::pci_function(tree, "0000:13:00.1", "15AD", "0820", "");
  SECTION("no function 0 at all") {}
  SECTION("function 0 without a driver") {
    test::pci_function(tree, "0000:13:00.0", "15AD", "07B0", "");
  }
  SECTION("function 0 is another vendor's NIC") {
    test::pci_function(tree, "0000:13:00.0", "8086", "100E", "e1000");
    tree.directory("/sys/bus/pci/devices/0000:13:00.0/net/eth0");
  }
  auto adapters = probes::find_adapters(tree.root());
  REQUIRE(adapters);
  REQUIRE(adapters->size() == 1);
  CHECK(adapters->front().driver.is_absent());
  CHECK(adapters->front().net_driver.is_absent());
  CHECK(adapters->front().netdev.is_absent());
  CHECK(adapters->front().rdma_device.is_absent());
  tree.unreadable("/sys/bus/pci/devices/0000:13:00.1/infiniband");
  adapters = probes::find_adapters(tree.root());
  REQUIRE(adapters);
  CHECK(adapters->front().rdma_device.is_unreadable());
}

TEST_CASE("no PCI bus is no adapter, no sysfs is an error") {
  const Tree tree;
  CHECK_FALSE(probes::find_adapters(tree.root()));
  tree.directory("/sys/bus");
  const auto none = probes::find_adapters(tree.root());
  REQUIRE(none);
  CHECK(none->empty());
}

TEST_CASE("a function whose identity cannot be read is an error, not an empty list") {
  const Tree tree;
  tree.unreadable("/sys/bus/pci/devices/0000:13:00.1/modalias");
  const auto adapters = probes::find_adapters(tree.root());
  REQUIRE_FALSE(adapters);
  CHECK(adapters.error().code == ELOOP);
}

TEST_CASE("a bridge's functions above 0 come after all bridges' functions 0") {
  const Tree tree;
  const auto nic_behind = [&](const std::string& bridge, const std::string& address) {
    const std::string place = "/sys/devices/pci0000:00/" + bridge + "/" + address;
    tree.directory(place);
    tree.link("/sys/bus/pci/devices/" + address, "../../.." + place.substr(4));
    test::pci_function(tree, address, "15AD", "07B0", "");
  };
  nic_behind("0000:00:15.1", "0000:04:00.0");  // slot 1184
  nic_behind("0000:00:17.0", "0000:13:00.0");  // slot 224
  nic_behind("0000:00:16.0", "0000:0b:00.0");  // slot 192
  CHECK(probes::look_at_bus(tree.root())->first_nic.is("0000:0b:00.0"));
}

TEST_CASE("the first NIC is the network function in the lowest slot") {
  const Tree tree;
  const auto first_nic = [&] { return probes::look_at_bus(tree.root()).value().first_nic; };
  test::pci_function(tree, "0000:00:0f.0", "15AD", "0405", "vmwgfx", "03");  // a display
  CHECK(first_nic().is_absent());
  test::bound_adapter(tree, "13:00", "ens224f0", "rocep19s0f1", "uverbs0");
  CHECK(first_nic().is("0000:13:00.0"));
  test::pci_function(tree, "0000:0b:00.0", "8086", "100E", "");
  CHECK(first_nic().is("0000:0b:00.0"));
}
