// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/modules.hpp"

#include "probes/kmod.hpp"

#include <utime.h>

#include <cerrno>

#include "tests/unit/catch.hpp"
#include "tests/unit/logged.hpp"
#include "tests/unit/module_index.hpp"
#include "tests/unit/notified.hpp"
#include "tests/unit/probes/tree.hpp"

using namespace pvrdma;
using pvrdma::test::ErrorOutput;
using pvrdma::test::Logged;
using pvrdma::test::module_index;
using pvrdma::test::Tree;

namespace {

// Recorded in a guest of Linux 6.1; the newest is first.
constexpr const char* kProcModules =
    "rdma_ucm 32768 0 - Live 0xffffffffc0b17000\n"
    "rdma_cm 139264 3 rpcrdma,rdma_ucm,ib_iser, Live 0xffffffffc0ada000\n"
    "vmw_pvrdma 69632 1 - Live 0xffffffffc0b8c000 (OE)\n"
    "ib_uverbs 172032 2 rdma_ucm,vmw_pvrdma, Live 0xffffffffc0a9f000\n"
    "vmxnet3 73728 0 - Live 0xffffffffc057e000\n";

const std::vector<std::string> kNames{"mlx4_ib", "rdma-cm", "rdma_ucm", "vmxnet3", "vmw_pvrdma"};
const Field<std::string> kRelease{std::string{"6.1.0-test"}};

const Module& named(const std::vector<Module>& modules, const std::string& name) {
  for (const Module& module : modules)
    if (module.name == name) return module;
  FAIL("no module " << name);
  return modules.front();
}

}  // namespace

TEST_CASE("/proc/modules: state, users and order") {
  const auto modules = probes::parse_proc_modules(kProcModules);
  REQUIRE(modules);
  REQUIRE(modules->size() == 5);
  CHECK(modules->at("rdma_cm").refcount.is(3));
  CHECK(modules->at("vmw_pvrdma").init == ModuleInit::Live);
  CHECK(modules->at("rdma_ucm").position > modules->at("vmw_pvrdma").position);
  CHECK(modules->at("vmw_pvrdma").position > modules->at("vmxnet3").position);
}

TEST_CASE("/proc/modules: each form of a line") {
  struct Row {
    const char* line;
    ModuleInit init;
    Field<unsigned> refcount;
  };
  const auto row = GENERATE(Row{"a 1 0 - Loading 0x0000000000000000\n", ModuleInit::Coming, 0U},
                            Row{"a 1 2 b, Unloading 0x0\n", ModuleInit::Going, 2U},
                            Row{"a 1 -1 - Unloading 0x0\n", ModuleInit::Going, Field<unsigned>{}},
                            // A line without CONFIG_MODULE_UNLOAD, and without a newline at the
                            // end.
                            Row{"a 1 - - Live 0x0", ModuleInit::Live, Field<unsigned>{}});
  INFO(row.line);
  const auto modules = probes::parse_proc_modules(row.line);
  REQUIRE(modules);
  CHECK(modules->at("a").init == row.init);
  CHECK(modules->at("a").refcount == row.refcount);
}

TEST_CASE("/proc/modules: any other line is an error") {
  for (const char* bad :
       {"\n", "a\n", "a 1 x - Live 0x0\n", "a 1 0 - Dreaming 0x0\n", "a 1 -1 - Live 0x0\n",
        "a 1 99999999999999 - Live 0x0\n", " 1 0 - Live\n"}) {
    INFO(bad);
    const auto modules = probes::parse_proc_modules(bad);
    REQUIRE_FALSE(modules);
    CHECK(modules.error().code == EBADMSG);
  }
  CHECK(probes::parse_proc_modules("")->empty());
}

TEST_CASE("the modules asked for are reported, each once, with their ranks") {
  const Tree tree;
  tree.file("/proc/modules", kProcModules);
  auto names = kNames;
  names.emplace_back("rdma_cm");
  const auto modules =
      probes::look_at_modules(tree.root(), kRelease, names, nullptr, probes::find_shipped);
  REQUIRE(modules.size() == 5);
  CHECK(modules[1].name == "rdma_cm");
  CHECK(named(modules, "mlx4_ib").init.is_absent());
  CHECK(named(modules, "mlx4_ib").load_order.is_absent());
  CHECK(named(modules, "vmxnet3").load_order.is(0));
  CHECK(named(modules, "vmw_pvrdma").load_order.is(1));
  CHECK(named(modules, "rdma_cm").load_order.is(2));
  CHECK(named(modules, "rdma_ucm").load_order.is(3));
  CHECK(named(modules, "vmw_pvrdma").refcount.is(1));
  // This tree has no index: the field is unreadable, never "missing".
  CHECK(named(modules, "mlx4_ib").shipped.is_unreadable());
}

TEST_CASE("an unrelated module changes nothing") {
  const Tree tree;
  tree.file("/proc/modules", kProcModules);
  const auto before =
      probes::look_at_modules(tree.root(), kRelease, kNames, nullptr, probes::find_shipped);
  tree.file("/proc/modules", std::string{"loop 1 0 - Live 0x0\n"} + kProcModules);
  CHECK(probes::look_at_modules(tree.root(), kRelease, kNames, nullptr, probes::find_shipped) ==
        before);
}

TEST_CASE("a module built in has a directory in /sys/module, and no initstate") {
  const Tree tree;
  tree.file("/proc/modules", "");
  tree.directory("/sys/module/vmxnet3/parameters");
  const auto modules =
      probes::look_at_modules(tree.root(), kRelease, kNames, nullptr, probes::find_shipped);
  CHECK(named(modules, "vmxnet3").init.is(ModuleInit::BuiltIn));
  CHECK(named(modules, "vmxnet3").refcount.is_absent());
  CHECK(named(modules, "vmw_pvrdma").init.is_absent());
}

TEST_CASE(
    "without /proc/modules sysfs tells which modules are loaded, and the order is unreadable") {
  const Tree tree;
  tree.file("/sys/module/vmw_pvrdma/initstate", "coming\n");
  tree.file("/sys/module/vmw_pvrdma/refcnt", "2\n");
  tree.unreadable("/sys/module/rdma_cm/initstate");
  tree.file("/sys/module/rdma_ucm/initstate", "dreaming\n");
  const auto modules =
      probes::look_at_modules(tree.root(), kRelease, kNames, nullptr, probes::find_shipped);
  CHECK(named(modules, "vmw_pvrdma").init.is(ModuleInit::Coming));
  CHECK(named(modules, "vmw_pvrdma").refcount.is(2));
  CHECK(named(modules, "vmw_pvrdma").load_order.is_unreadable());
  CHECK(named(modules, "rdma_cm").init.is_unreadable());
  CHECK(named(modules, "rdma_ucm").init.is_unreadable());
  CHECK(named(modules, "mlx4_ib").init.is_absent());
}

TEST_CASE("the module index tells which modules the kernel ships") {
  const Tree tree;
  module_index(tree, "6.1.0-test");
  const auto shipped = probes::find_shipped(tree.root(), "6.1.0-test",
                                            {"vmw_pvrdma", "rdma_cm", "vmxnet3", "mlx4_ib"});
  REQUIRE(shipped.size() == 4);
  CHECK(shipped[0].shipped.is(Shipped::Loadable));
  CHECK(shipped[1].shipped.is(Shipped::Loadable));
  CHECK(shipped[2].shipped.is(Shipped::BuiltIn));
  CHECK(shipped[3].shipped.is(Shipped::Missing));
  CHECK(shipped[0].needs == std::vector<std::string>{"ib_uverbs", "ib_core"});
  CHECK(shipped[1].needs == std::vector<std::string>{"ib_core"});
  CHECK(shipped[2].needs.empty());
}

TEST_CASE("libkmod's messages are logged at debug, and nowhere else") {
  const Tree tree;
  module_index(tree, "6.1.0-test");
  tree.file("/lib/modules/6.1.0-test/modules.dep.bin", "this is no index at all of any kind");
  const ErrorOutput output;
  Logged logged;
  const auto look = [&] { return probes::find_shipped(tree.root(), "6.1.0-test", {"vmw_pvrdma"}); };
  const auto usual = look();
  CHECK(logged.entries().empty());
  CHECK(output.text().empty());
  log::set_level(log::Level::Debug);
  CHECK(look() == usual);
  const auto said = logged.messages();
  REQUIRE_FALSE(said.empty());
  CHECK(said.front().find("MESSAGE=libkmod: ") == 0);
  CHECK(logged.entries().front().at(1) == "PRIORITY=7");
}

TEST_CASE("a kernel without an index, or of unknown release, is unreadable") {
  const Tree tree;
  const auto shipped = probes::find_shipped(tree.root(), "6.1.0-test", {"vmw_pvrdma"});
  REQUIRE(shipped.size() == 1);
  REQUIRE(shipped[0].shipped.is_unreadable());
  CHECK(shipped[0].shipped.error()->code == ENOENT);
  for (const auto& release :
       {Field<std::string>{}, Field<std::string>::unreadable({EACCES, "", ""})})
    CHECK(probes::look_at_modules(tree.root(), release, kNames, nullptr, probes::find_shipped)[0]
              .shipped.is_unreadable());
}

TEST_CASE("the index is read again once it has changed") {
  const Tree tree;
  module_index(tree, "6.1.0-test");
  Snapshot previous;
  previous.kernel = kRelease;
  previous.modules =
      probes::look_at_modules(tree.root(), kRelease, {"vmw_pvrdma"}, nullptr, probes::find_shipped);
  REQUIRE(previous.modules[0].shipped.is(Shipped::Loadable));
  previous.modules[0].shipped = Shipped::Missing;  // a value that shows whether it is reused
  const auto look = [&] {
    return probes::look_at_modules(tree.root(), kRelease, {"vmw_pvrdma"}, &previous,
                                   probes::find_shipped)[0]
        .shipped;
  };
  previous.taken_at = BootClock::now();
  CHECK(look().is(Shipped::Loadable));  // the file is younger than the margin
  previous.taken_at = BootClock::now() + std::chrono::hours{1};
  CHECK(look().is(Shipped::Missing));
  previous.kernel = std::string{"6.1.0-other"};
  CHECK(look().is(Shipped::Loadable));
}

TEST_CASE("only modules that are not loaded are looked up in the index") {
  const Tree tree;
  tree.file("/proc/modules", kProcModules);
  std::vector<std::string> asked;
  const auto modules = probes::look_at_modules(
      tree.root(), kRelease, kNames, nullptr,
      [&](const Root&, const std::string&, const std::vector<std::string>& names) {
        asked = names;
        return std::vector<probes::IndexEntry>(names.size(), {Shipped::Missing});
      });
  CHECK(asked == std::vector<std::string>{"mlx4_ib"});
  CHECK(named(modules, "mlx4_ib").shipped.is(Shipped::Missing));
  CHECK(named(modules, "vmw_pvrdma").shipped.is(Shipped::Loadable));
  // Without a program to ask, the field is unreadable.
  const auto without = probes::look_at_modules(tree.root(), kRelease, kNames, nullptr, {});
  CHECK(named(without, "mlx4_ib").shipped.is_absent());
}
