// SPDX-License-Identifier: GPL-2.0-or-later
// The five examples of VMware's rule, and the command.
#include <nlohmann/json.hpp>

#include "agent/ctl/commands.hpp"
#include "agent/tools/mmio/command.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/probes/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;

namespace {

fake::Printed run_mmio(const std::vector<std::string>& gpus, const test::Tree& tree,
                       bool json = false) {
  fake::Screen screen;
  Settings settings;
  settings.json = json;
  const int code = mmio(settings, screen.console, {gpus, tree.root()});
  return {code, screen.out(), screen.err()};
}

// A GPU of this guest whose BAR ends at `last_byte`, in hexadecimal.
void add_gpu(const test::Tree& tree, const std::string& address, const std::string& last_byte) {
  test::pci_function(tree, address, "10DE", "20F1", "nvidia", "03");
  tree.file("/sys/bus/pci/devices/" + address + "/resource",
            "0x0000000000000000 " + last_byte + " 0x000000000014220c\n");
}

}  // namespace

TEST_CASE("the size of the MMIO space follows VMware's rule") {
  const std::vector<std::pair<const char*, std::uint64_t>> examples{
      {"2x16", 64}, {"2x24", 128}, {"8x16", 128 * 2}, {"10x16", 512}, {"2x40", 256}};
  for (const auto& [words, size] : examples) {
    INFO(words);
    const auto gpus = gpu::parse_gpus(words);
    REQUIRE(gpus);
    CHECK(gpu::mmio_size_gb(std::uint64_t{gpus->count} * gpus->framebuffer_gb) == size);
  }
}

TEST_CASE("GPUs are given as COUNTxGB or GB, and nothing else") {
  CHECK(gpu::parse_gpus("2x40") == gpu::Gpus{2, 40});
  CHECK(gpu::parse_gpus("2X40") == gpu::Gpus{2, 40});
  CHECK(gpu::parse_gpus("40GB") == gpu::Gpus{1, 40});
  CHECK(gpu::parse_gpus("64x1024gb") == gpu::Gpus{64, 1024});
  for (const char* bad : {"", "x", "2x", "x40", "0x40", "2x0", "65x1", "1x1025", "-2x40", "2x40x2",
                          "2 x 40", "2x40MB", "40G", "4294967298x1", "2Xx40"}) {
    INFO(bad);
    CHECK_FALSE(gpu::parse_gpus(bad));
  }
}

TEST_CASE("mmio prints the VM's settings for given GPUs, all of them together") {
  const test::Tree tree;
  const auto bios = run_mmio({"2x40"}, tree);
  CHECK(bios.code == 0);
  CHECK(
      bios.out ==
      R"(# 2 GPUs, 80 GB of framebuffer. VM options, advanced, configuration parameters; with the VM off:
pciPassthru.64bitMMIOSizeGB = "256"
pciPassthru.use64bitMMIO = "TRUE"
# The VM must boot by EFI (VM options, boot options, firmware); this machine boots by BIOS, and a guest
# that was installed so does not start by EFI.
)");
  tree.directory("/sys/firmware/efi");
  const Json object = Json::parse(run_mmio({"2x24", "16"}, tree, true).out);
  CHECK(object == Json::parse(R"({
    "version": 1, "gpus": [{"count": 2, "framebuffer_gb": 24}, {"count": 1, "framebuffer_gb": 16}],
    "framebuffer_gb": 64, "mmio_size_gb": 128, "boots_by_efi": true,
    "settings": {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "128"}})"));
  // A container may not see the firmware's folder.
  tree.remove("/sys/firmware/efi");
  tree.file("/.dockerenv", "");
  CHECK(run_mmio({"2x40"}, tree).out.find("BIOS") == std::string::npos);
  CHECK(run_mmio({"2x40"}, tree).out.find("is not known here") != std::string::npos);
  CHECK(Json::parse(run_mmio({"2x40"}, tree, true).out)["boots_by_efi"].is_null());
}

TEST_CASE("mmio takes the GPUs of this guest where none are given") {
  const test::Tree tree;
  tree.directory("/sys/bus/pci/devices");
  const auto none = run_mmio({}, tree);
  CHECK(none.code == 3);
  CHECK(none.out.empty());
  CHECK(none.err ==
        "pvrdma-agentctl: there is no GPU in this guest. Give their sizes in GB, as 2x40 for two "
        "of 40\n");
  add_gpu(tree, "0000:0b:00.0", "0x0000000fffffffff");
  add_gpu(tree, "0000:13:00.0", "0x0000000fffffffff");
  const auto seen = run_mmio({}, tree, true);
  CHECK(seen.code == 0);
  const Json object = Json::parse(seen.out);
  CHECK(object["framebuffer_gb"] == 128);
  CHECK(object["mmio_size_gb"] == 256);
  CHECK(object["gpus"][1] ==
        Json::parse(R"({"function": "0000:13:00.0", "bar_bytes": 68719476736})"));
  // A card whose BAR is a small window into its memory does not tell the framebuffer's size.
  add_gpu(tree, "0000:1b:00.0", "0x000000000fffffff");
  const auto doubtful = run_mmio({}, tree);
  CHECK(doubtful.code == 3);
  CHECK(doubtful.err ==
        "pvrdma-agentctl: 0000:1b:00.0 maps 256 MB here, less than its framebuffer: give the sizes "
        "instead, as 2x40\n");
}
