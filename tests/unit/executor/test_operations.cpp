// SPDX-License-Identifier: GPL-2.0-or-later
// Whole operations on a made-up system: configuration, guard, ledger and action together.
#include <cerrno>

#include "agent/executor/operations.hpp"
#include "agent/model/attempt.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/executor/netns.hpp"
#include "tests/unit/executor/tree.hpp"

namespace pvrdma::executor {

namespace {

struct OperationsFixture {
  test::Tree tree;
  Places places{tree.root(),
                tree / "/state/ledger.json",
                tree / "/state/door",
                {tree / "/lib/modules/none", {}}};

  OperationsFixture() {
    test::add_adapter(tree, "v0", 99999);
    std::filesystem::create_directory(tree / "/state");
  }
  void build_driver_in() {
    std::filesystem::remove(tree / "/sys/module/vmw_pvrdma/initstate");
    std::filesystem::remove(tree / "/sys/module/vmw_pvrdma/refcnt");
    tree.file("/proc/modules", "");
  }
  // v0 is the function's, in a network namespace of the test.
  void add_links() {
    test::run("ip link add v0 type veth peer name v1");
    tree.file("/sys/bus/pci/devices/0000:13:00.0/net/v0/ifindex",
              std::to_string(test::index_of_link("v0")) + "\n");
  }
  [[nodiscard]] Ledger ledger() const {
    const auto ledger = codec::read_ledger(places.ledger);
    REQUIRE(ledger.has_value());
    return *ledger;
  }
};

}  // namespace

TEST_CASE_METHOD(OperationsFixture, "operations: a refusal is recorded, and nothing is done") {
  Operations operations{places};
  const OperationResult result = operations.run(LoadModule{"floppy"}, Caller::Agent);
  CHECK(result.outcome == Outcome::NotAllowed);
  REQUIRE(ledger().refusals.size() == 1);
  CHECK(ledger().refusals[0].outcome == Outcome::NotAllowed);
  CHECK(ledger().attempts.empty());
  // The log has the first of equal refusals only.
  CHECK_FALSE(result.repeated);
  CHECK(operations.run(LoadModule{"floppy"}, Caller::Agent).repeated);
  CHECK_FALSE(operations.run(LoadModule{"loop"}, Caller::Agent).repeated);
  tree.file("/etc/pvrdma-agent/pvrdma-agent.toml", "[modules]\nreload = \"sometimes\"\n");
  CHECK_FALSE(operations.run(LoadModule{"floppy"}, Caller::Agent).repeated);
}

TEST_CASE_METHOD(OperationsFixture,
                 "operations: a bad configuration allows only harmless operations") {
  Operations operations{places};
  tree.file("/etc/pvrdma-agent/pvrdma-agent.toml", "[modules]\nreload = \"sometimes\"\n");
  for (const Operation& refused :
       {Operation{ReloadDriver{}}, Operation{RebindFunction{test::kFunction}},
        Operation{LoadModule{"floppy"}}, Operation{ConfigureLink{test::kFunction, "v0", 9000U, {}}},
        Operation{ConfigureLink{test::kFunction, "v0", {}, {"10.0.0.1/8"}}}}) {
    INFO(describe(refused));
    const OperationResult result = operations.run(refused, Caller::Agent);
    CHECK(result.outcome == Outcome::NotAllowed);
    CHECK(result.detail.find("pvrdma-agent.toml:2") != std::string::npos);
  }
  const ConfigureLink up{test::kFunction, "v0", {}, {}};
  CHECK(operations.run(LoadModule{"ib_umad"}, Caller::Agent).outcome != Outcome::NotAllowed);
  CHECK(operations.run(BindFunction{test::kFunction}, Caller::Agent).good());
  CHECK(operations.run(up, Caller::Agent).outcome != Outcome::NotAllowed);
  tree.file("/etc/pvrdma-agent/pvrdma-agent.toml.d/a.toml", "[[adapter]]\nmanage = \"observe\"\n");
  CHECK(operations.run(up, Caller::Agent).outcome == Outcome::NotAllowed);
  // The configuration is read for each request, so a repaired one counts at once.
  tree.file("/etc/pvrdma-agent/pvrdma-agent.toml", "[modules]\nreload = \"never\"\n");
  CHECK(operations.run(LoadModule{"ib_umad"}, Caller::Agent).outcome != Outcome::NotAllowed);
  CHECK(operations.run(ReloadDriver{}, Caller::Agent).detail.find("never") != std::string::npos);
}

TEST_CASE_METHOD(OperationsFixture,
                 "operations: a rebind is counted, whatever happens after the unbind") {
  build_driver_in();
  Operations operations{places};
  const OperationResult result = operations.run(RebindFunction{test::kFunction}, Caller::Agent);
  CHECK(result.outcome == Outcome::Done);
  CHECK(tree.read("/sys/bus/pci/drivers/vmw_pvrdma/unbind") == test::kFunction);
  CHECK(ledger().rebinds == 1);
  CHECK(ledger().reloads == 0);
}

TEST_CASE_METHOD(OperationsFixture, "operations: the driver is probed one by one") {
  const std::string second = "/sys/bus/pci/devices/0000:1b:00.1";
  test::identify_adapter(tree, second, "/sys/bus/pci/devices/0000:1b:00.0");
  Operations operations{places};
  tree.file(second + "/driver_override", "(null)\n");
  // No module can be inserted here; a function that was held back for it leaves its mark in a
  // plain file.
  CHECK(operations.run(LoadModule{kDriverModule}, Caller::Agent).outcome == Outcome::Failed);
  CHECK(tree.read(second + "/driver_override") != "(null)\n");
}

TEST_CASE_METHOD(OperationsFixture,
                 "operations: boot scripts are not read, and stop no operation") {
  tree.file("/etc/rc.local", "#!/bin/sh\nmodprobe -r vmw_pvrdma\nmodprobe vmw_pvrdma\n");
  std::filesystem::permissions(tree / "/etc/rc.local", std::filesystem::perms{0755});
  tree.file("/proc/812/cmdline", std::string{"/bin/sh\0/etc/rc.local\0", 23});
  tree.file("/proc/812/stat", "812 (rc.local) S 1 812 812 0 -1 4194304 0\n");
  build_driver_in();
  Operations operations{places};
  CHECK(operations.run(RebindFunction{test::kFunction}, Caller::Agent).outcome == Outcome::Done);
}

TEST_CASE_METHOD(OperationsFixture,
                 "operations: the present MTU comes from the kernel, not from the caller") {
  tree.file("/etc/pvrdma-agent/pvrdma-agent.toml",
            "[[adapter]]\nmatch = { pci = \"0000:13:00.1\" }\nmtu = 9000\n");
  tree.file("/proc/modules", "vmw_pvrdma 81920 1 - Live 0x0000000000000000\n");
  Operations operations{places};
  const ConfigureLink jumbo{test::kFunction, "v0", 9000U, {}};
  CHECK(operations.run(jumbo, Caller::Agent).outcome == Outcome::InUse);
  tree.file("/sys/bus/pci/devices/0000:13:00.0/net/v0/flags", "0x1002\n");
  CHECK(operations.run(jumbo, Caller::Agent).outcome != Outcome::InUse);
  tree.file("/sys/bus/pci/devices/0000:13:00.0/net/v0/flags", "0x1003\n");
  tree.file("/sys/bus/pci/devices/0000:13:00.0/net/v0/mtu", "9000\n");
  CHECK(operations.run(jumbo, Caller::Agent).outcome != Outcome::InUse);
}

TEST_CASE_METHOD(OperationsFixture, "operations: a reload whose load would fail is not begun") {
  Operations operations{places};
  const OperationResult result = operations.run(ReloadDriver{}, Caller::Agent);
  CHECK(result.outcome == Outcome::Failed);
  CHECK(result.detail.find("not removed") != std::string::npos);
  CHECK(ledger().reloads == 0);
}

TEST_CASE_METHOD(OperationsFixture, "operations: without a ledger nothing is disturbed") {
  SECTION("no folder for the ledger") { std::filesystem::remove(tree / "/state"); }
  SECTION("it is unreadable") { tree.unreadable("/state/ledger.json"); }
  SECTION("it is no ledger") { tree.file("/state/ledger.json", "{\"reloads\": 1}"); }
  SECTION("it has grown too large") {
    tree.file("/state/ledger.json", std::string(kReadLimitBytes + 1, ' '));
  }
  Operations operations{places};
  for (const Operation& operation :
       {Operation{ReloadDriver{}}, Operation{RebindFunction{test::kFunction}}}) {
    INFO(describe(operation));
    const OperationResult result = operations.run(operation, Caller::Agent);
    CHECK(result.outcome == Outcome::NotAllowed);
    CHECK(result.detail.find("could not be counted") != std::string::npos);
    build_driver_in();
  }
  CHECK(tree.read("/sys/bus/pci/drivers/vmw_pvrdma/unbind").empty());
  // Other operations are still carried out, and their answers name the cause.
  const OperationResult bound = operations.run(BindFunction{test::kFunction}, Caller::Agent);
  CHECK(bound.outcome == Outcome::AlreadyDone);
  CHECK(bound.detail.find("it is not counted: ") != std::string::npos);
}

TEST_CASE_METHOD(OperationsFixture,
                 "operations: no sequence of requests gets the agent's user past the limit") {
  const RebindFunction rebind{test::kFunction};
  unsigned unbound = 0;
  build_driver_in();
  for (unsigned i = 0; i < 2 * kMostReloads; ++i) {
    Operations operations{places};  // as after an exit for idleness
    tree.file("/sys/bus/pci/drivers/vmw_pvrdma/unbind", "");
    for (int flood = 0; flood < 3; ++flood) {
      static_cast<void>(operations.run(BindFunction{test::kFunction}, Caller::Agent));
      static_cast<void>(operations.run(LoadModule{"x" + std::to_string(i)}, Caller::Agent));
    }
    static_cast<void>(operations.run(rebind, Caller::Agent));
    if (!tree.read("/sys/bus/pci/drivers/vmw_pvrdma/unbind").empty()) ++unbound;
  }
  CHECK(unbound == kMostReloads);
  Operations operations{places};
  const OperationResult result = operations.run(rebind, Caller::Agent);
  CHECK(result.outcome == Outcome::NotAllowed);
  CHECK(result.detail.find("as often as is allowed") != std::string::npos);
  CHECK(operations.run(ReloadDriver{}, Caller::Agent).outcome == Outcome::NotAllowed);
  CHECK(operations.run(rebind, Caller::Root).outcome == Outcome::Done);
}

TEST_CASE_METHOD(OperationsFixture, "operations: a used driver is not touched") {
  tree.file("/sys/module/vmw_pvrdma/refcnt", "1\n");
  tree.file("/proc/modules", "vmw_pvrdma 81920 1 - Live 0x0000000000000000\n");
  Operations operations{places};
  for (const Operation& operation :
       {Operation{ReloadDriver{}}, Operation{RebindFunction{test::kFunction}}}) {
    INFO(describe(operation));
    const OperationResult result = operations.run(operation, Caller::Agent);
    CHECK_FALSE(result.good());
    CHECK((result.outcome == Outcome::InUse || result.outcome == Outcome::NotAllowed));
  }
  CHECK(tree.read("/sys/bus/pci/drivers/vmw_pvrdma/unbind").empty());
  CHECK(tree.mode("/dev/infiniband/uverbs0") == 0666);
}

TEST_CASE_METHOD(OperationsFixture, "operations: the link of the function, by its index") {
  const test::Namespace space;
  if (!space.entered()) return;
  add_links();
  Operations operations{places};
  CHECK(operations.run(ConfigureLink{test::kFunction, "v0", {}, {}}, Caller::Agent).outcome ==
        Outcome::Done);
  CHECK(test::run("ip -o link show dev v0").find(",UP") != std::string::npos);
  CHECK(test::run("ip -o link show dev v1").find(",UP") == std::string::npos);
  CHECK(operations.run(ConfigureLink{test::kFunction, "v1", {}, {}}, Caller::Agent).outcome ==
        Outcome::NotAllowed);
  // A link that disappears between the look and the request.
  tree.file("/sys/bus/pci/devices/0000:13:00.0/net/v0/ifindex", "99999\n");
  const OperationResult gone =
      operations.run(ConfigureLink{test::kFunction, "v0", {}, {}}, Caller::Agent);
  CHECK(gone.outcome == Outcome::Failed);
  CHECK(gone.code == ENODEV);
}

TEST_CASE_METHOD(OperationsFixture,
                 "operations: an address is removed only by a request that asks for that") {
  const test::Namespace space;
  if (!space.entered()) return;
  add_links();
  test::run("ip link set v1 up");
  tree.directory("/run/pvrdma-agent-executor");
  const auto configure = [&](const std::string& addresses) {
    tree.file("/etc/pvrdma-agent/pvrdma-agent.toml",
              "[[adapter]]\nmatch = { pci = \"0000:13:00.1\" }\naddresses = [" + addresses + "]\n");
  };
  const auto has_address = [] {
    return test::run("ip -o address show dev v0").find(" fd00::1/64 ") != std::string::npos;
  };
  Operations operations{places};
  configure("\"fd00::1/64\"");
  CHECK(operations.run(ConfigureLink{test::kFunction, "v0", {}, {"fd00::1/64"}}, Caller::Agent)
            .outcome == Outcome::Done);
  // The file has changed, and the agent has not read it yet.
  configure("");
  ConfigureLink link{test::kFunction, "v0", {}, {}};
  CHECK(operations.run(link, Caller::Agent).good());
  CHECK(has_address());
  link.removes = true;
  CHECK(operations.run(link, Caller::Agent).outcome == Outcome::Done);
  CHECK_FALSE(has_address());
}

}  // namespace pvrdma::executor
