// SPDX-License-Identifier: GPL-2.0-or-later
// `selftest` as a command, with made-up helper programs, and with the real one where there is no
// device.
#include <nlohmann/json.hpp>

#include "agent/ctl/commands.hpp"
#include "agent/ctl/json_text.hpp"
#include "agent/tools/verify/commands.hpp"
#include "agent/tools/verify/devices.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/places.hpp"
#include "tests/unit/probes/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using pvrdma::test::Tree;

namespace {

struct Printed {
  int code = 0;
  std::string out, err;
};

Printed run(const Tree& tree, const std::string& program,
            const std::optional<std::string>& device = {}, bool json = false,
            Milliseconds timeout = std::chrono::seconds{20}) {
  fake::Screen screen;
  Settings settings;
  settings.json = json;
  SelftestOptions options;
  options.device = device;
  options.timeout = timeout;
  options.program = program;
  options.root = tree.root();
  const int code = self_test(settings, screen.console, options);
  return {code, screen.out(), screen.err()};
}

void add_adapter(const Tree& tree, const std::string& slot, const std::string& name) {
  test::bound_adapter(tree, slot, "ens" + slot + "f0", name, "uverbs0");
  tree.link("/sys/class/infiniband/" + name,
            "../../bus/pci/devices/0000:" + slot + ".1/infiniband/" + name);
}

}  // namespace

TEST_CASE("the devices that are tested") {
  const Tree tree;
  tree.directory("/sys/bus/pci/devices");
  CHECK(run(tree, "/nowhere").err == "pvrdma-agentctl: there is no PVRDMA adapter\n");
  add_adapter(tree, "13:00", "rocep19s0f1");
  add_adapter(tree, "1b:00", "rocep27s0f1");
  tree.directory("/sys/class/infiniband/rxe0/ports/1/gids");
  const auto names = [&](const std::optional<std::string>& wanted) {
    std::string found;
    const auto targets = verify::find_targets(tree.root(), wanted);
    for (const auto& target : targets.value())
      found += target.device + "/" + std::to_string(target.gids.size()) + " ";
    return found;
  };
  CHECK(names({}) == "rocep19s0f1/2 rocep27s0f1/2 ");
  for (const char* name : {"rocep27s0f1", "0000:1b:00.1", "0000:1b:00.0", "ens1b:00f0"})
    CHECK(names(name) == "rocep27s0f1/2 ");
  CHECK(names("rxe0") == "rxe0/0 ");
  for (const char* name : {"", "nosuch", "../infiniband/rxe0", "."})
    CHECK(run(tree, "/nowhere", name).code == 3);
}

TEST_CASE("the helper program gets device, GID and time; its report is printed") {
  const Tree tree;
  add_adapter(tree, "13:00", "rocep19s0f1");
  tree.program("/helper", "[ \"$*\" = 'rocep19s0f1 1 20000' ] && printf 'step=find\\npassed=\\n'");
  const auto printed = run(tree, tree / "/helper", {}, true);
  CHECK(printed.code == 0);
  const Json device = Json::parse(printed.out)["devices"][0];
  CHECK(device["passed"] == true);
  CHECK(device["gid"]["gid"] == "::ffff:192.168.30.201");
  CHECK(run(tree, tree / "/helper").out.starts_with("rocep19s0f1: passed, in "));
}

TEST_CASE("one failing device, or an adapter without device, is a failure") {
  const Tree tree;
  add_adapter(tree, "13:00", "rocep19s0f1");
  add_adapter(tree, "1b:00", "rocep27s0f1");
  tree.program(
      "/helper",
      "[ $1 = rocep19s0f1 ] && echo passed= && exit; echo step=open; echo failed=13 0; exit 1");
  const auto printed = run(tree, tree / "/helper");
  CHECK(printed.code == 2);
  CHECK(printed.out.find("rocep19s0f1: passed") == 0);
  CHECK(printed.out.find("rocep27s0f1: failed at opening the device: Permission denied\n") !=
        std::string::npos);
  test::pci_function(tree, "0000:1c:00.1", "15AD", "0820", "");
  const auto without = run(tree, tree / "/helper", "0000:1c:00.1");
  CHECK(without.code == 2);
  CHECK(without.out.starts_with("0000:1c:00.1: failed: the adapter has no RDMA device\n"));
}

TEST_CASE("a helper program that hangs is killed, and its step named") {
  const Tree tree;
  add_adapter(tree, "13:00", "rocep19s0f1");
  tree.program("/helper", "echo step=cq; exec sleep 60");
  const BootTime start = BootClock::now();
  const auto printed = run(tree, tree / "/helper", {}, false, Milliseconds{100});
  CHECK(printed.code == 2);
  CHECK(
      printed.out.starts_with("rocep19s0f1: failed at creating a completion queue: the call did "
                              "not return: Connection timed out\n"));
  CHECK(BootClock::now() - start < std::chrono::seconds{30});
}

TEST_CASE("without helper program or libibverbs nothing is tested, and one line says so") {
  const Tree tree;
  add_adapter(tree, "13:00", "rocep19s0f1");
  const auto missing = run(tree, "/nowhere/pvrdma-selftest");
  CHECK(missing.code == 3);
  CHECK(missing.out.empty());
  CHECK(missing.err ==
        "pvrdma-agentctl: starting /nowhere/pvrdma-selftest: No such file or directory\n");
  tree.program("/helper",
               "echo \"x: error while loading shared libraries: libibverbs.so.1\"; exit 127");
  const auto unloaded = run(tree, tree / "/helper");
  CHECK(unloaded.code == 3);
  CHECK(unloaded.err ==
        "pvrdma-agentctl: x: error while loading shared libraries: libibverbs.so.1. Install "
        "libibverbs1 and ibverbs-providers (Debian, Ubuntu), or libibverbs (Enterprise Linux)\n");
}

// No machine has a device with this name.
TEST_CASE("the real helper program says that there is no such device") {
  const Tree tree;
  add_adapter(tree, "13:00", "nosuch0");
  const Json printed = Json::parse(run(tree, places::selftest, {}, true).out)["devices"][0];
  CHECK(printed["passed"] == false);
  CHECK(printed["steps"].empty());
  CHECK(printed["failure"]["step"] == "find");
  CHECK((printed["failure"]["errno"] == ENODEV || printed["failure"]["errno"] == ENOSYS));
  tree.program("/misused", std::string{"exec "} + places::selftest + " nosuch0");
  CHECK(run(tree, tree / "/misused").out.find("exit status 2") != std::string::npos);
}
