// SPDX-License-Identifier: GPL-2.0-or-later
// Lines of modprobe.d that give functions of an adapter to another driver.
#include "agent/tools/survey/function_claims.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/places.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::probes;

namespace {

std::string claimed(const std::string& text, const std::string& command_line = "") {
  const test::Tree tree;
  tree.file("/etc/modprobe.d/b.conf", text);
  const auto claims = find_function_claims(
      read_modprobe_config(places::module_lookup, tree.root(), ModprobeOf::NextBoot), command_line);
  REQUIRE(claims.is_known());
  if (claims.get()->empty()) return "";
  const FunctionClaim& claim = claims.get()->front();
  return claim.driver + " " + claim.ids + " by " + claim.how;
}

std::string fixture(const std::string& name) {
  return read_file(std::string{places::fixtures} + "/field/" + name).value();
}

}  // namespace

TEST_CASE("a passthrough driver takes functions of an adapter by ID") {
  CHECK(claimed(fixture("vfio-pci.conf")) ==
        "vfio-pci 15ad:07b0 by \"options vfio_pci ids=15ad:07b0\" in /etc/modprobe.d/b.conf:1");
  CHECK(claimed("options vfio_pci disable_vga=1 ids=10de:1eb8,15AD:0820,0x15ad:0x7b0:15ad\n")
            .starts_with("vfio-pci 15ad:0820, 15ad:07b0 by "));
  CHECK(claimed("options pci-stub ids=\"15ad:0820\"\n").starts_with("pci-stub 15ad:0820 by "));
  CHECK(claimed("", "quiet vfio-pci.ids=10de:1eb8,15ad:0820 ro\n") ==
        "vfio-pci 15ad:0820 by \"vfio-pci.ids=10de:1eb8,15ad:0820\" on the kernel's command line");
  CHECK(claimed("", "pci_stub.ids=15ad:07b0").starts_with("pci-stub 15ad:07b0 by "));
  CHECK(claimed("options vfio-pci ids=10de:1eb8,15ad:0790,:,15ad\noptions x ids=15ad:07b0\n",
                "x.ids=15ad:07b0 vfio-pci.x=15ad:07b0")
            .empty());
}
