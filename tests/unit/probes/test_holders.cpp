// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/holders.hpp"

#include "tests/unit/catch.hpp"
#include "tests/unit/probes/tree.hpp"

using namespace pvrdma;
using pvrdma::test::Tree;

// This machine has no RDMA device with these names, so nldev never answers for them.
namespace {

const std::vector<probes::HeldDevice> kDevices{{"pvrdma-test0", std::string{"uverbs0"}},
                                               {"pvrdma-test1", std::string{"uverbs1"}}};

void process(const Tree& tree, const std::string& pid, const std::string& command) {
  tree.file("/proc/" + pid + "/comm", command + "\n");
  tree.link("/proc/" + pid + "/fd/0", "/dev/null");
}

void count(const Tree& tree, const std::string& users) {
  tree.file("/sys/module/vmw_pvrdma/refcnt", users + "\n");
}

}  // namespace

TEST_CASE("a reference count of 0 proves that there is no holder") {
  const Tree tree;
  count(tree, "0");
  tree.unreadable("/proc");
  CHECK(probes::find_holders(tree.root(), kDevices).is({}));
}

TEST_CASE("without a device there is nothing to hold") {
  const Tree tree;
  CHECK(probes::find_holders(tree.root(), {}).is({}));
}

TEST_CASE("open verbs nodes name the holders, each process once for each device") {
  const Tree tree;
  count(tree, "4");
  process(tree, "1", "systemd");
  process(tree, "812", "ibv_asyncwatch");
  tree.link("/proc/812/fd/3", "/dev/infiniband/uverbs1");
  tree.link("/proc/812/fd/4", "/dev/infiniband/uverbs1");
  tree.link("/proc/812/fd/5", "/dev/infiniband/uverbs0");
  process(tree, "77", "mpirun");
  tree.link("/proc/77/fd/9", "/dev/infiniband/uverbs0");
  process(tree, "78", "other");
  tree.link("/proc/78/fd/9", "/dev/infiniband/uverbs10");
  tree.link("/proc/78/fd/10", "/dev/infiniband/rdma_cm");
  tree.file("/proc/78x/fd/9", "");
  const auto holders = probes::find_holders(tree.root(), kDevices);
  REQUIRE(holders.is_known());
  CHECK(*holders.get() == std::vector<Holder>{{77, "mpirun", "pvrdma-test0"},
                                              {812, "ibv_asyncwatch", "pvrdma-test0"},
                                              {812, "ibv_asyncwatch", "pvrdma-test1"}});
}

TEST_CASE("a process with control characters in its name is named in plain text") {
  const Tree tree;
  count(tree, "1");
  process(tree, "812", "x\nSTOPPING=1\x1b[2J\xff");
  tree.link("/proc/812/fd/3", "/dev/infiniband/uverbs0");
  CHECK(probes::find_holders(tree.root(), kDevices)
            .is({{812, "x\\nSTOPPING=1\\x1b[2J\\xff", "pvrdma-test0"}}));
}

TEST_CASE("a user in the kernel is a holder although the driver's count is 0") {
  const Tree tree;
  count(tree, "0");
  std::string asked;
  const auto users = [&](const std::vector<std::string>& devices) -> Result<std::vector<Holder>> {
    for (const std::string& device : devices) asked += device + " ";
    return std::vector<Holder>{
        {0, "rdma_cm", "pvrdma-test1"}, {0, "smc", "pvrdma-test1"}, {0, "rdma_cm", "pvrdma-test1"}};
  };
  const Holder cm{0, "rdma_cm (kernel)", "pvrdma-test1"};
  const Holder smc{0, "smc (kernel)", "pvrdma-test1"};
  CHECK(probes::find_holders(tree.root(), kDevices, users).is({cm, smc}));
  CHECK(asked == "pvrdma-test0 pvrdma-test1 ");
  CHECK(describe(cm) == "rdma_cm (kernel)");
  SECTION("a device that a process holds is not asked about") {
    count(tree, "1");
    process(tree, "812", "mpirun");
    tree.link("/proc/812/fd/3", "/dev/infiniband/uverbs0");
    asked.clear();
    CHECK(probes::find_holders(tree.root(), kDevices, users)
              .is({cm, smc, {812, "mpirun", "pvrdma-test0"}}));
    CHECK(asked == "pvrdma-test1 ");
  }
  SECTION("a device that cannot be asked may have any user") {
    CHECK(probes::find_holders(tree.root(), kDevices, [](const std::vector<std::string>&) {
            return Result<std::vector<Holder>>{fail(ETIMEDOUT, "asking for", "queue pairs")};
          }).is_unreadable());
  }
  SECTION("a count that no process explains is still unreadable") {
    count(tree, "1");
    CHECK(probes::find_holders(tree.root(), kDevices, users).is_unreadable());
  }
}

TEST_CASE("a count that no process explains is unreadable, never empty") {
  const Tree tree;
  count(tree, "1");
  process(tree, "812", "bash");
  const auto holders = probes::find_holders(tree.root(), kDevices);
  REQUIRE(holders.is_unreadable());
  CHECK(holders.error()->message().find("reference count is 1") != std::string::npos);
}

TEST_CASE("a process that may not be looked into leaves the rest as it is") {
  const Tree tree;
  process(tree, "1", "systemd");
  tree.unreadable("/proc/99/fd");
  process(tree, "812", "bash");
  auto open = probes::find_open_nodes(tree.root(), kDevices);
  REQUIRE(open);
  CHECK_FALSE(open->complete);
  CHECK(open->holders.empty());
  SECTION("count unreadable: unreadable") {
    tree.file("/sys/module/vmw_pvrdma/refcnt", "many\n");
    CHECK(probes::find_holders(tree.root(), kDevices).is_unreadable());
  }
  SECTION("no count: the driver is built in: unreadable") {
    CHECK(probes::find_holders(tree.root(), kDevices).is_unreadable());
  }
  SECTION("a holder found, and counted: known") {
    count(tree, "1");
    tree.link("/proc/812/fd/3", "/dev/infiniband/uverbs0");
    CHECK(probes::find_holders(tree.root(), kDevices).is({{812, "bash", "pvrdma-test0"}}));
  }
  SECTION("more counted than found: another may hold any device") {
    count(tree, "2");
    tree.link("/proc/812/fd/3", "/dev/infiniband/uverbs0");
    CHECK(probes::find_holders(tree.root(), kDevices).is({{}, {812, "bash", "pvrdma-test0"}}));
  }
}

TEST_CASE("with every process looked into, a built-in driver can be known to be free") {
  const Tree tree;
  process(tree, "1", "systemd");
  process(tree, "812", "bash");
  // A process that has ended between the listing and the look has no fd folder.
  tree.directory("/proc/813");
  CHECK(probes::find_holders(tree.root(), kDevices).is({}));
}

TEST_CASE("where /proc hides processes, one that is not listed may hold any device") {
  const Tree tree;
  process(tree, "812", "bash");
  SECTION("no count: the driver is built in: unreadable") {
    CHECK(probes::find_holders(tree.root(), kDevices).is_unreadable());
  }
  SECTION("more counted than found") {
    count(tree, "2");
    tree.link("/proc/812/fd/3", "/dev/infiniband/uverbs0");
    CHECK(probes::find_holders(tree.root(), kDevices).is({{}, {812, "bash", "pvrdma-test0"}}));
  }
}

TEST_CASE("a process with an open node and no context hides behind no other process's context") {
  const Tree tree;
  process(tree, "812", "mpirun");
  tree.unreadable("/proc/99/fd");
  probes::ContextOwners owners{{{812, {}, "pvrdma-test0"}, {812, {}, "pvrdma-test0"}}, true};
  const auto holders = [&] {
    return probes::find_holders(tree.root(), kDevices, probes::kernel_users,
                                [&](const auto&) { return Result<probes::ContextOwners>{owners}; });
  };
  const Holder job{812, "mpirun", "pvrdma-test0"};
  SECTION("each context of a job has one reference") {
    count(tree, "2");
    CHECK(holders().is({job}));
  }
  SECTION("a further reference is of a process without a context") {
    count(tree, "3");
    CHECK(holders().is({{}, job}));
  }
  SECTION("a reference of a process that may be looked into has a name") {
    count(tree, "2");
    owners.holders.pop_back();
    process(tree, "77", "sleep");
    tree.link("/proc/77/fd/9", "/dev/infiniband/uverbs1");
    CHECK(holders().is({{77, "sleep", "pvrdma-test1"}, job}));
  }
}

TEST_CASE("adapters without an RDMA device cannot be held") {
  std::vector<Adapter> adapters(3);
  RdmaDevice device;
  device.name = "rocep19s0f1";
  device.uverbs = std::string{"uverbs0"};
  adapters[1].rdma_device = device;
  const auto devices = probes::held_devices(adapters);
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].rdma_device == "rocep19s0f1");
  CHECK(devices[0].uverbs.is("uverbs0"));
}
