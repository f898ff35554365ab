// SPDX-License-Identifier: GPL-2.0-or-later
// The guard, as tables: the request, the machine, and whether it is allowed.
#include "tests/unit/executor/guard_scene.hpp"

namespace pvrdma::executor {

TEST_CASE("guard: modules") {
  check({{"of the list", LoadModule{"ib_umad"}, kAsIs, {}},
         {"not in the kernel's spelling", LoadModule{"rdma-cm"}, kAsIs, kNo},
         {"the driver, not in the kernel's spelling", LoadModule{"vmw-pvrdma"}, kAsIs, kNo},
         {"vmxnet3", LoadModule{"vmxnet3"}, kAsIs, {}},
         {"vmw_pvrdma", LoadModule{"vmw_pvrdma"}, kAsIs, {}},
         {"not of the list", LoadModule{"floppy"}, kAsIs, kNo, "floppy is not in modules.before"},
         {"empty", LoadModule{""}, kAsIs, kNo},
         {"required, but not to be loaded", LoadModule{"nvme_rdma"},
          [](Scene& s) { s.config.modules.required = {"nvme_rdma"}; }, kNo},
         {"a path", LoadModule{"../../tmp/ib_umad"}, kAsIs, kNo},
         {"a file", LoadModule{"/tmp/ib_umad.ko"}, kAsIs, kNo},
         {"a file's name", LoadModule{"ib_umad.ko"}, kAsIs, kNo},
         {"with options", LoadModule{"ib_umad debug=1"}, kAsIs, kNo},
         {"in capitals", LoadModule{"IB_UMAD"}, kAsIs, kNo},
         {"the driver in capitals", LoadModule{"VMW_PVRDMA"}, kAsIs, kNo},
         {"a part of it", LoadModule{"ib_uma"}, kAsIs, kNo},
         {"more than it", LoadModule{"ib_umad" + std::string(64, 'd')}, kAsIs, kNo},
         {"cut by a NUL", LoadModule{std::string{"ib_umad\0", 8}}, kAsIs, kNo},
         {"no more of the list", LoadModule{"ib_umad"},
          [](Scene& s) { s.config.modules.before = {}; }, kNo}});
}

TEST_CASE("guard: bind") {
  const auto being_released = [](Scene& s) { s.adapters[0].pci.driver = {}; };
  const auto unbound = [](Scene& s) {
    s.adapters[0].pci.driver = s.adapters[0].pci.rdma_device = {};
  };
  check(
      {{"without a driver", BindFunction{kOne}, unbound, {}},
       {"bound already", BindFunction{kOne}, kAsIs, {}},
       {"being released", BindFunction{kOne}, being_released, kNo, "has not released 0000:13:00.1"},
       {"without a driver, RDMA device unreadable", BindFunction{kOne},
        [&](Scene& s) {
          unbound(s);
          s.adapters[0].pci.rdma_device = Field<std::string>::unreadable(kDenied);
        },
        kNo, "Permission denied"},
       {"bound to another", BindFunction{kOne},
        [](Scene& s) { s.adapters[0].pci.driver = std::string{"vfio-pci"}; }, kNo, "vfio-pci"},
       {"driver unreadable", BindFunction{kOne},
        [](Scene& s) { s.adapters[0].pci.driver = Field<std::string>::unreadable(kDenied); }, kNo,
        "Permission denied"},
       {"the vmxnet3 function", BindFunction{"0000:13:00.0"}, kAsIs, kNo, "15ad:0820"},
       {"no function", BindFunction{"../../x"}, kAsIs, kNo, "15ad:0820"},
       {"bus unreadable", BindFunction{kOne},
        [](Scene& s) { s.facts.adapters = Field<std::vector<AdapterFacts>>::unreadable(kDenied); },
        kNo, "the PCI bus"},
       {"driver not loaded", BindFunction{kOne}, [](Scene& s) { s.facts.driver.init = {}; }, kNo,
        "not loaded"},
       {"reload = never",
        BindFunction{kOne},
        [&](Scene& s) {
          unbound(s);
          s.config.modules.reload = ReloadPolicy::Never;
        },
        {}}});
}

TEST_CASE("guard: operations that take the driver away") {
  const auto built_in = [](Scene& s) {
    s.facts.driver.init = ModuleInit::BuiltIn;
    s.facts.driver.refcount = {};
  };
  const auto alone = [](Scene& s) { s.adapters.resize(1); };
  for (const Operation& operation : {Operation{ReloadDriver{}}, Operation{RebindFunction{kOne}}}) {
    INFO(describe(operation));
    check({{"no holder", operation, kAsIs, {}},
           {"reload = never", operation,
            [](Scene& s) { s.config.modules.reload = ReloadPolicy::Never; }, kNo, "never"},
           {"reload = always",
            operation,
            [](Scene& s) { s.config.modules.reload = ReloadPolicy::Always; },
            {}},
           {"a user in the kernel", operation,
            [](Scene& s) {
              s.holders = {{0, "rdma_cm (kernel)", "rocep19s0f1"}};
            },
            Outcome::InUse, "in use by rdma_cm (kernel)"},
           {"a holder of the other adapter", operation,
            [](Scene& s) {
              s.holders = {{812, "ibv_asyncwatch", "rocep27s0f1"}};
            },
            Outcome::InUse, "ibv_asyncwatch (PID 812)"},
           {"holders unreadable", operation,
            [](Scene& s) { s.facts.holders = Field<std::vector<Holder>>::unreadable(kDenied); },
            kNo, "who holds"},
           {"a count that no holder explains", operation,
            [](Scene& s) { s.facts.driver.refcount = 1U; }, Outcome::InUse, "used 1 times"},
           {"count unreadable", operation,
            [](Scene& s) { s.facts.driver.refcount = Field<unsigned>::unreadable(kDenied); }, kNo,
            "reference count"},
           {"coming", operation, [](Scene& s) { s.facts.driver.init = ModuleInit::Coming; }, kNo,
            "not live"},
           {"state unreadable", operation,
            [](Scene& s) { s.facts.driver.init = Field<ModuleInit>::unreadable(kDenied); }, kNo,
            "state of vmw_pvrdma"}},
          [&](Scene& s) {
            if (std::holds_alternative<ReloadDriver>(operation)) return;
            built_in(s);
            alone(s);
          });
  }
  check({{"reload, not loaded: only loads",
          ReloadDriver{},
          [](Scene& s) {
            s.facts.driver.init = {};
            s.facts.driver.refcount = {};
          },
          {}},
         {"reload, without a count", ReloadDriver{}, [](Scene& s) { s.facts.driver.refcount = {}; },
          kNo, "not known"},
         {"reload, built in", ReloadDriver{}, built_in, kNo, "built into"},
         {"reload, an RDMA device is in a container", ReloadDriver{},
          [](Scene& s) {
            s.adapters[1].pci.netdev = {};
            s.adapters[1].pci.rdma_device = {};
          },
          kNo, "0000:1b:00.1 is in another network namespace"},
         {"reload, an RDMA device alone is in a container", ReloadDriver{},
          [](Scene& s) { s.adapters[1].pci.rdma_device = {}; }, kNo,
          "0000:1b:00.1 is in another network namespace"},
         {"reload, an interface only, which finds its device again",
          ReloadDriver{},
          [](Scene& s) { s.adapters[1].pci.netdev = {}; },
          {}},
         {"rebind, the RDMA device is in a container", RebindFunction{kOne},
          [&](Scene& s) {
            built_in(s);
            alone(s);
            s.adapters[0].pci.netdev = {};
            s.adapters[0].pci.rdma_device = {};
          },
          kNo, "is in another network namespace"},
         {"rebind, built in, two adapters", RebindFunction{kOne}, built_in, kNo, "other adapters"},
         {"rebind, can be unloaded", RebindFunction{kOne}, alone, kNo, "can be unloaded"},
         {"rebind, unbound", RebindFunction{kOne},
          [&](Scene& s) {
            built_in(s);
            alone(s);
            s.adapters[0].pci.driver = {};
          },
          kNo, "not bound"},
         {"rebind, no such function", RebindFunction{"0000:99:00.1"}, kAsIs, kNo, "15ad:0820"}});
}

// Any user can have thousands of processes, and the detail reaches the journal and the ledger.
TEST_CASE("guard: of many holders the detail names four") {
  Scene scene;
  for (int pid = 1; pid <= 1000; ++pid)
    scene.holders.push_back({pid, std::string(1, static_cast<char>('a' + (pid - 1) % 26)), ""});
  const auto refused = scene.ask(ReloadDriver{});
  REQUIRE(refused);
  CHECK(refused->detail == "in use by a (PID 1), b (PID 2), c (PID 3), d (PID 4) and 996 more");
  CHECK(refused->holders.size() == 1000);
}

}  // namespace pvrdma::executor
