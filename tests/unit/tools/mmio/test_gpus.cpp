// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/mmio/gpus.hpp"

#include "tests/unit/catch.hpp"
#include "tests/unit/probes/tree.hpp"

using namespace pvrdma;
using pvrdma::test::Tree;

namespace {

constexpr const char* kNothing = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";

// `resource` of a GPU: registers; the memory, 64-bit and prefetchable; and another window.
void gpu(const Tree& tree, const std::string& address, const std::string& vendor,
         const std::string& memory) {
  test::pci_function(tree, address, vendor, "20F1", "nvidia", "03");
  tree.file("/sys/bus/pci/devices/" + address + "/resource",
            "0x00000000fc000000 0x00000000fcffffff 0x0000000000040200\n" + memory + kNothing +
                "0x0000021000000000 0x0000021001ffffff 0x000000000014220c\n" + kNothing + kNothing +
                // The last two are no BARs: a ROM, and a window as a bridge has it.
                "0x0000000000000000 0x0000ffffffffffff 0x000000000014220c\n");
}

}  // namespace

TEST_CASE(
    "GPUs are display controllers of others than VMware, with their largest prefetchable BAR") {
  const Tree tree;
  gpu(tree, "0000:0b:00.0", "10DE", "0x0000020000000000 0x0000020fffffffff 0x000000000014220c\n");
  gpu(tree, "0000:13:00.0", "1002", kNothing);
  gpu(tree, "0000:00:0f.0", "15AD", kNothing);
  test::bound_adapter(tree, "1b:00", "ens256f0", "rocep27s0f1", "uverbs0");
  const auto gpus = probes::find_gpus(tree.root());
  REQUIRE(gpus);
  CHECK(*gpus ==
        std::vector<probes::Gpu>{{"0000:0b:00.0", 64ULL << 30U}, {"0000:13:00.0", 32ULL << 20U}});
}

TEST_CASE("a GPU whose resources cannot be read is an error, a machine without PCI has none") {
  const Tree tree;
  tree.directory("/sys/bus");
  CHECK(probes::find_gpus(tree.root()).value().empty());
  test::pci_function(tree, "0000:0b:00.0", "10DE", "20F1", "", "03");
  CHECK_FALSE(probes::find_gpus(tree.root()));
}
