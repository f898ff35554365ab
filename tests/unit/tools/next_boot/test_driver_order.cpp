// SPDX-License-Identifier: GPL-2.0-or-later
// The driver's predecessors in modprobe.d, on made-up roots, by module-lookup.
#include "agent/tools/next_boot/forecast.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/places.hpp"
#include "tests/unit/tree.hpp"

namespace pvrdma::probes {

namespace {

using Names = std::vector<std::string>;

// The same form as units/pvrdma-agent.modprobe.in.
constexpr const char* kOurs =
    "# a comment\nsoftdep vmw_pvrdma pre: pvrdma_agent_before\n"
    "install pvrdma_agent_before /sbin/modprobe -b -q -a vmxnet3 mlx4_ib "
    "ib-umad\nremove pvrdma_agent_before /bin/true\n";
constexpr const char* kOurPath = "/usr/lib/modprobe.d/pvrdma-agent.conf";

struct DriverOrderFixture {
  test::Tree tree;
  [[nodiscard]] Field<Names> look() const {
    return driver_predecessors(
        read_modprobe_config(places::module_lookup, tree.root(), ModprobeOf::NextBoot));
  }
};

}  // namespace

TEST_CASE_METHOD(DriverOrderFixture, "driver order: not set") {
  CHECK(look().is_absent());
  tree.file("/etc/modprobe.d/x.conf", "softdep mlx4_core post: mlx4_ib\nblacklist vmw_pvrdma\n");
  CHECK(look().is_absent());
  tree.file("/etc/modprobe.d/x.conf", "softdep vmw_pvrdma post: ib_umad\n");
  CHECK(look().is_absent());
}

TEST_CASE_METHOD(DriverOrderFixture, "driver order: through the name that no module has") {
  tree.file(kOurPath, kOurs);
  CHECK(look().is(Names{"vmxnet3", "mlx4_ib", "ib_umad"}));
}

TEST_CASE_METHOD(DriverOrderFixture, "driver order: a plain soft dependency, beside ours") {
  tree.file("/etc/modprobe.d/x.conf", "softdep vmw-pvrdma pre: rdma-cm post: ib_ipoib\n");
  CHECK(look().is(Names{"rdma_cm"}));
  // Of several files the first in the order of names counts, as for libkmod.
  tree.file(kOurPath, kOurs);
  CHECK(look().is(Names{"vmxnet3", "mlx4_ib", "ib_umad"}));
  tree.file("/etc/modprobe.d/99.conf", "softdep vmw_pvrdma pre: rdma-cm\n");
  CHECK(look().is(Names{"rdma_cm"}));
}

TEST_CASE_METHOD(DriverOrderFixture, "driver order: a file of the same name in /etc hides ours") {
  tree.file(kOurPath, kOurs);
  tree.link("/etc/modprobe.d/pvrdma-agent.conf", "/dev/null");
  CHECK(look().is_absent());
}

TEST_CASE_METHOD(DriverOrderFixture, "driver order: files in /run do not count for the next boot") {
  tree.file("/run/modprobe.d/pvrdma-agent.conf", kOurs);
  CHECK(look().is_absent());
}

TEST_CASE_METHOD(DriverOrderFixture, "driver order: unreadable folders are reported") {
  tree.unreadable("/etc/modprobe.d");
  CHECK(look().is_unreadable());
}

TEST_CASE("the arguments of an install line's modprobe that are no options are modules") {
  CHECK(loaded_by("/sbin/modprobe -q --all a b-c || true") == Names{"a", "b_c"});
  CHECK(loaded_by("modprobe x") == Names{"x"});
  CHECK(loaded_by("/bin/true").empty());
  CHECK(loaded_by("").empty());
}

}  // namespace pvrdma::probes
