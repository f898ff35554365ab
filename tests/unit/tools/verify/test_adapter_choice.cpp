// SPDX-License-Identifier: GPL-2.0-or-later
// The adapter that `verify` takes, and the address at which the other side reaches it.
#include "agent/tools/verify/peer/helper.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/probes/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;

namespace {

struct Adapters {
  test::Tree tree;
  VerifyOptions options;

  Adapters() {
    add("13:00", "ens19f0", "rocep19s0f1", "uverbs0");
    tree.file("/sys/module/vmw_pvrdma/refcnt", "0\n");
    options.root = tree.root();
  }
  void add(const std::string& slot, const std::string& netdev, const std::string& device,
           const std::string& uverbs) const {
    test::bound_adapter(tree, slot, netdev, device, uverbs);
    tree.link("/sys/class/infiniband/" + device,
              "../../bus/pci/devices/0000:" + slot + ".1/infiniband/" + device);
  }
};

}  // namespace

TEST_CASE_METHOD(Adapters,
                 "a machine's own address is that of its GID, unless that is link-local") {
  const auto own_with = [&](const char* gid) {
    tree.file("/sys/class/infiniband/rocep19s0f1/ports/1/gids/1", std::string{gid} + "\n");
    const auto helper = Helper::prepare(options);
    return helper ? helper->own_address() : helper.error().message();
  };
  CHECK(own_with("0000:0000:0000:0000:0000:ffff:c0a8:1ec9") == "192.168.30.201");
  CHECK(own_with("fd00:0000:0000:0000:0000:0000:0000:0001") == "fd00::1");
  CHECK(own_with("fe80:0000:0000:0000:0250:56ff:fe00:0011").empty());
}

TEST_CASE_METHOD(Adapters, "an adapter with an address comes before one with a link-local GID") {
  add("1b:00", "ens27f0", "rocep27s0f1", "uverbs1");
  tree.file("/sys/class/infiniband/rocep19s0f1/ports/1/gids/1",
            "0000:0000:0000:0000:0000:0000:0000:0000\n");
  auto helper = Helper::prepare(options);
  REQUIRE(helper);
  CHECK(helper->device() == "rocep27s0f1");
  CHECK(helper->own_address() == "192.168.30.201");
  options.device = "rocep19s0f1";
  helper = Helper::prepare(options);
  REQUIRE(helper);
  CHECK(helper->device() == "rocep19s0f1");
}
