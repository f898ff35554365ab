// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/observe.hpp"

#include <sys/stat.h>

#include <fstream>
#include <optional>

#include "tests/unit/catch.hpp"
#include "tests/unit/probes/tree.hpp"

using namespace pvrdma;
using pvrdma::test::Tree;

namespace {

constexpr const char* kPciDevices = "/sys/bus/pci/devices/";
constexpr const char* kObservedPort =
    "/sys/bus/pci/devices/0000:13:00.1/infiniband/rocep19s0f1/ports/1";

void guest(const Tree& tree) {
  tree.file("/proc/sys/kernel/osrelease", "6.1.0-test\n");
  tree.file("/proc/modules",
            "vmw_pvrdma 69632 0 - Live 0xffffffffc0b8c000 (OE)\n"
            "vmxnet3 73728 0 - Live 0xffffffffc057e000\n");
  tree.file("/sys/module/vmw_pvrdma/refcnt", "0\n");
  test::bound_adapter(tree, "13:00", "pvrdma-t0", "rocep19s0f1", "uverbs0");
}

// A fake port-query that leaves a mark for each run.

struct Guest {
  Tree tree;
  probes::Instruments with;
  probes::Look one;
  std::optional<probes::PortQuery> query;
  Guest() {
    guest(tree);
    with.root = tree.root();
    one.modules = {"rdma-cm", "rdma_ucm"};
    answer("echo state=ACTIVE active_mtu=1024");
  }
  void answer(const std::string& script) {
    tree.program("/query", "echo >> " + (tree / "/asked").string() + "\n" + script + "\n");
    query.emplace((tree / "/query").string(), Milliseconds{3000});
    with.port_query = &*query;
  }
  [[nodiscard]] int asked() const {
    std::ifstream marks{tree / "/asked"};
    int count = 0;
    for (std::string line; std::getline(marks, line);) ++count;
    return count;
  }
  [[nodiscard]] Snapshot look(const Snapshot* previous = nullptr) {
    one.previous = previous;
    return probes::observe(with, one);
  }
};

const RdmaDevice& device(const Snapshot& snapshot) {
  const Adapter* adapter = snapshot.adapter("0000:13:00.1");
  REQUIRE(adapter != nullptr);
  REQUIRE(adapter->rdma_device.is_known());
  return *adapter->rdma_device.get();
}

}  // namespace

TEST_CASE("one look at a guest") {
  Guest guest;
  const BootTime start = BootClock::now();
  const Snapshot snapshot = guest.look();
  CHECK(snapshot.taken_at >= start);
  CHECK(snapshot.kernel.is("6.1.0-test"));
  REQUIRE(snapshot.modules.size() == 4);
  CHECK(snapshot.modules[0].name == "rdma_cm");
  CHECK(snapshot.module("vmw_pvrdma")->init.is(ModuleInit::Live));
  REQUIRE(snapshot.adapters.is_known());
  const Adapter* adapter = snapshot.adapter("0000:13:00.1");
  REQUIRE(adapter != nullptr);
  CHECK(adapter->net_function == "0000:13:00.0");
  CHECK(adapter->driver.is("vmw_pvrdma"));
  CHECK(adapter->net_driver.is("vmxnet3"));
  CHECK(adapter->netdev.is_absent());  // the test's machine has no such interface
  CHECK(device(snapshot).port.state.is(PortState::Active));
  CHECK(device(snapshot).port.verbs_state.is(PortState::Active));
  CHECK(device(snapshot).port.active_mtu.is(1024));
  CHECK(snapshot.holders.is({}));
  CHECK(snapshot.ledger == Ledger{});
}

TEST_CASE("a look at an empty system: absent and unreadable fields stay apart") {
  const Tree tree;
  const probes::Instruments with{tree.root()};
  Snapshot snapshot = probes::observe(with, {});
  CHECK(snapshot.kernel.is_absent());
  CHECK(snapshot.adapters.is_unreadable());
  CHECK(snapshot.holders.is_unreadable());
  CHECK(snapshot.module("vmxnet3")->shipped.is_unreadable());
  tree.directory(kPciDevices);
  snapshot = probes::observe(with, {});
  CHECK(snapshot.adapters.is({}));
  CHECK(snapshot.holders.is({}));
}

TEST_CASE("verbs are asked once each time the port becomes ACTIVE") {
  Guest guest;
  const Snapshot first = guest.look();
  CHECK(guest.asked() == 1);
  const Snapshot second = guest.look(&first);
  CHECK(guest.asked() == 1);
  CHECK(second == first);
  guest.tree.file(std::string{kObservedPort} + "/state", "1: DOWN\n");
  const Snapshot down = guest.look(&second);
  CHECK(guest.asked() == 1);
  CHECK(device(down).port.verbs_state.is_absent());
  guest.tree.file(std::string{kObservedPort} + "/state", "4: ACTIVE\n");
  CHECK(device(guest.look(&down)).port.verbs_state.is(PortState::Active));
  CHECK(guest.asked() == 2);
}

TEST_CASE("verbs with another state are asked again: the port has just changed") {
  Guest guest;
  guest.answer("echo state=DOWN active_mtu=1024");
  const Snapshot first = guest.look();
  CHECK(device(first).port.verbs_state.is_absent());
  guest.answer("echo state=ACTIVE active_mtu=1024");
  CHECK(device(guest.look(&first)).port.verbs_state.is(PortState::Active));
}

TEST_CASE("verbs that fail are unreadable, and asked again on a request, or later") {
  Guest guest;
  guest.answer("echo 'no provider' >&2; exit 1");
  const Snapshot failed = guest.look();
  REQUIRE(device(failed).port.verbs_state.is_unreadable());
  CHECK(device(failed).port.verbs_state.error()->message().find("no provider") !=
        std::string::npos);
  CHECK(device(failed).port.active_mtu.is_unreadable());
  guest.one.asked = false;
  Snapshot again = guest.look(&failed);
  CHECK(again == failed);
  CHECK(guest.asked() == 1);
  guest.answer("echo state=ACTIVE active_mtu=1024");
  SECTION("asked") { guest.one.asked = true; }
  SECTION("later") { again.verbs_failed -= Milliseconds{30'000}; }
  CHECK(device(guest.look(&again)).port.verbs_state.is(PortState::Active));
}

TEST_CASE("verbs of a device that udev renames meanwhile are asked by its new name") {
  Guest guest;
  const std::string devices =
      (guest.tree / (std::string{kPciDevices} + "0000:13:00.1/infiniband")).string();
  guest.answer("mv " + devices + "/rocep19s0f1 " + devices + "/new; echo 'no device' >&2; exit 1");
  const Snapshot before = guest.look();
  CHECK(device(before).port.verbs_state.is_absent());
  guest.answer("echo state=ACTIVE active_mtu=1024");
  const Snapshot after = guest.look(&before);
  CHECK(device(after).name == "new");
  CHECK(device(after).port.verbs_state.is(PortState::Active));
}

TEST_CASE("a name is not settled just after udev has changed it") {
  const Tree tree;
  test::bound_adapter(tree, "13:00", "lo", "rocep19s0f1", "uverbs0");
  const probes::Instruments with{tree.root()};
  const auto settled = [&] {
    const Snapshot snapshot = probes::observe(with, {});
    const Adapter* adapter = snapshot.adapter("0000:13:00.1");
    REQUIRE(adapter != nullptr);
    REQUIRE(adapter->netdev.is_known());
    return adapter->netdev.get()->settled;
  };
  CHECK(settled().is(true));
  // The netdev was listed, and is gone at the look.
  tree.remove("/sys/bus/pci/devices/0000:13:00.0/net/lo");
  tree.link("/sys/bus/pci/devices/0000:13:00.0/net/lo", "../gone");
  CHECK(settled().is(false));
}

TEST_CASE("a driver that goes during the look is not live next to an unbound function") {
  Guest guest;
  test::pci_function(guest.tree, "0000:1b:00.1", "15AD", "0820", "");
  guest.answer("echo 'vmw_pvrdma 69632 0 - Unloading 0xffffffffc0b8c000 (OE)' > " +
               (guest.tree / "/proc/modules").string() + "; echo state=ACTIVE active_mtu=1024");
  const Snapshot snapshot = guest.look();
  REQUIRE(guest.asked() == 1);
  CHECK(snapshot.module("vmw_pvrdma")->init.is(ModuleInit::Going));
}

TEST_CASE("a device that answers late is not asked again meanwhile, and its answer is taken") {
  Guest guest;
  const std::string answer = (guest.tree / "/answer").string();
  REQUIRE(::mkfifo(answer.c_str(), 0600) == 0);
  guest.answer("read line <" + answer + " && echo $line");
  guest.query.emplace((guest.tree / "/query").string(), Milliseconds{200});
  const Snapshot hung = guest.look();
  REQUIRE(device(hung).port.verbs_state.is_unreadable());
  CHECK(device(hung).port.verbs_state.error()->message().find("has not answered") !=
        std::string::npos);
  CHECK(device(guest.look(&hung)).port.verbs_state.is_unreadable());
  guest.tree.file(std::string{kObservedPort} + "/state", "1: DOWN\n");
  const Snapshot down = guest.look(&hung);
  guest.tree.file(std::string{kObservedPort} + "/state", "4: ACTIVE\n");
  Snapshot after = guest.look(&down);
  CHECK(guest.asked() == 1);
  std::ofstream{answer} << "state=ACTIVE active_mtu=1024\n";
  for (int tries = 0; tries < 500 && device(after).port.verbs_state.is_unreadable(); ++tries) {
    const Snapshot before = after;
    after = guest.look(&before);
  }
  CHECK(device(after).port.verbs_state.is(PortState::Active));
  CHECK(guest.asked() == 1);
}

TEST_CASE("verbs are not asked") {
  Guest guest;
  SECTION("without a program to ask") { guest.with.port_query = nullptr; }
  SECTION("while the driver is still coming") {
    guest.tree.file("/proc/modules", "vmw_pvrdma 69632 1 - Loading 0xffffffffc0b8c000 (OE)\n");
  }
  SECTION("of a device without a verbs node") {
    guest.tree.remove("/sys/bus/pci/devices/0000:13:00.1/infiniband_verbs");
  }
  SECTION("of a port whose state cannot be read") {
    guest.tree.file(std::string{kObservedPort} + "/state", "?\n");
  }
  CHECK(device(guest.look()).port.verbs_state.is_absent());
  CHECK(guest.asked() == 0);
}

TEST_CASE("earlier names of a device are its aliases") {
  Guest guest;
  const Snapshot first = guest.look();
  CHECK(device(first).aliases.empty());
  const std::string folder = std::string{kPciDevices} + "0000:13:00.1/infiniband/";
  std::filesystem::rename(guest.tree / (folder + "rocep19s0f1"), guest.tree / (folder + "rdma0"));
  guest.tree.link("/dev/infiniband/by-ibdev/uverbs-vmw_pvrdma0", "../uverbs0");
  const Snapshot renamed = guest.look(&first);
  CHECK(device(renamed).name == "rdma0");
  CHECK(device(renamed).aliases == std::vector<std::string>{"rocep19s0f1", "vmw_pvrdma0"});
  CHECK(guest.look(&renamed) == renamed);
  std::filesystem::rename(guest.tree / (folder + "rdma0"), guest.tree / (folder + "rocep19s0f1"));
  CHECK(device(guest.look(&renamed)).aliases == std::vector<std::string>{"vmw_pvrdma0", "rdma0"});
}

TEST_CASE("an unbound function has no device, and no holder") {
  Guest guest;
  guest.tree.remove("/sys/bus/pci/devices/0000:13:00.1/driver");
  guest.tree.remove("/sys/bus/pci/devices/0000:13:00.1/infiniband");
  guest.tree.file("/sys/module/vmw_pvrdma/refcnt", "1\n");
  const Snapshot snapshot = guest.look();
  CHECK(snapshot.adapter("0000:13:00.1")->rdma_device.is_absent());
  CHECK(snapshot.adapter("0000:13:00.1")->driver.is_absent());
  CHECK(snapshot.holders.is({}));
}
