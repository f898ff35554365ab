// SPDX-License-Identifier: GPL-2.0-or-later
// The guard, as tables: operations on an adapter's link.
#include "tests/unit/executor/guard_scene.hpp"

namespace pvrdma::executor {

TEST_CASE("guard: the link") {
  check(
      {{"no configuration", kUp, kAsIs, {}},
       {"driver coming", kUp, [](Scene& s) { s.facts.driver.init = ModuleInit::Coming; }, kNo,
        "coming"},
       {"driver going", kUp, [](Scene& s) { s.facts.driver.init = ModuleInit::Going; }, kNo,
        "going"},
       {"driver not loaded", kUp, [](Scene& s) { s.facts.driver.init = {}; }, kNo, "not loaded"},
       {"no netdev", kUp, [](Scene& s) { s.adapters[0].pci.netdev = {}; }, kNo},
       {"renamed meanwhile", kUp, [](Scene& s) { s.adapters[0].pci.netdev = std::string{"eth1"}; },
        kNo, "ens224f0 is not the link of 0000:13:00.1 (eth1 is)"},
       {"observed, by MAC", kUp,
        [](Scene& s) { s.configure(by_mac("00:50:56:8a:9f:c2"), Manage::Observe); }, kNo,
        "observe"},
       {"observed, by its own MAC", kUp,
        [](Scene& s) {
          s.configure(by_mac("00:50:56:8a:9f:c2"), Manage::Observe);
          s.adapters[0].mac = std::string{"02:00:00:00:00:01"};
          s.adapters[0].permanent_mac = std::string{"00:50:56:8a:9f:c2"};
        },
        kNo, "observe"},
       {"a part of a bond", kUp,
        [](Scene& s) {
          s.adapters[0].owner = LinkOwner{LinkManager::Master, true, {}, "bond0"};
        },
        kNo, "its master bond0 configures the link"},
       {"observed, by function", kUp, [](Scene& s) { s.configure(by_pci(kOne), Manage::Observe); },
        kNo, "observe"},
       {"observed, by net function", kUp,
        [](Scene& s) { s.configure(by_pci("0000:13:00.0"), Manage::Observe); }, kNo, "observe"},
       {"observed, by netdev", kUp,
        [](Scene& s) { s.configure(by_netdev("ens224f0"), Manage::Observe); }, kNo, "observe"},
       {"a network manager has it", kUp,
        [](Scene& s) {
          s.adapters[0].owner = LinkOwner{LinkManager::Networkd, true, "/x.network"};
        },
        kNo, "systemd-networkd configures the link"},
       {"whose it is cannot be read", kUp,
        [](Scene& s) { s.adapters[0].owner = Field<LinkOwner>::unreadable(kDenied); }, kNo,
        "the network manager of the link"},
       {"a network manager has not decided",
        kUp,
        [](Scene& s) {
          s.adapters[0].owner = LinkOwner{LinkManager::NetworkManager, false, {}};
        },
        {}},
       {"a network manager has it, but the configuration gives it to us",
        kUp,
        [](Scene& s) {
          s.adapters[0].owner = LinkOwner{LinkManager::Networkd, true, "/x.network"};
          s.configure(by_pci(kOne), Manage::Agent);
        },
        {}},
       {"the other one observed",
        kUp,
        [](Scene& s) { s.configure(by_netdev("ens256f0"), Manage::Observe); },
        {}},
       {"two tables name it", kUp,
        [](Scene& s) {
          s.configure(by_netdev("ens224f0"), Manage::Agent);
          s.configure(by_pci(kOne), Manage::Observe);
        },
        kNo, "netdev = \"ens224f0\" and pci = \"0000:13:00.1\""},
       {"MAC unreadable, perhaps observed", kUp,
        [](Scene& s) {
          s.adapters[0].mac = Field<std::string>::unreadable(kDenied);
          s.configure(by_mac("00:50:56:8a:9f:c2"), Manage::Observe);
        },
        kNo, "the configuration of this adapter"}});
  check({{"another's link", ConfigureLink{kOne, "ens256f0", {}, {}}, kAsIs, kNo, "not the link"},
         {"a NIC that is no adapter's", ConfigureLink{kOne, "eth0", {}, {}}, kAsIs, kNo},
         {"configure, own holder",
          kUp,
          [](Scene& s) {
            s.holders = {{7, "job", "rocep19s0f1"}};
          },
          {}}});
}

TEST_CASE("guard: only the configured MTU and addresses") {
  const ConfigureLink wanted{kOne, "ens224f0", 9000U, {"192.168.30.201/24"}};
  const auto configured = [](Scene& s) {
    s.configure(by_pci(kOne), Manage::Auto, 9000U, {"192.168.30.201/24", "fd00::1/64"});
  };
  check({{"as configured", wanted, configured, {}},
         {"nothing configured", wanted, kAsIs, kNo, "MTU 9000"},
         {"another MTU", ConfigureLink{kOne, "ens224f0", 1500U, {}}, configured, kNo, "MTU 1500"},
         {"another address", ConfigureLink{kOne, "ens224f0", {}, {"10.0.0.1/8"}}, configured, kNo,
          "10.0.0.1/8"},
         {"the MTU of every adapter",
          ConfigureLink{kTwo, "ens256f0", 9000U, {}},
          [](Scene& s) { s.config.every_adapter.mtu = 9000; },
          {}},
         {"every adapter observed", kUp,
          [](Scene& s) { s.config.every_adapter.manage = Manage::Observe; }, kNo, "observe"},
         {"every adapter observed but this one",
          kUp,
          [](Scene& s) {
            s.config.every_adapter.manage = Manage::Observe;
            s.configure(by_pci(kOne), Manage::Agent);
          },
          {}},
         {"configured for the other adapter", ConfigureLink{kTwo, "ens256f0", 9000U, {}},
          configured, kNo, "MTU 9000"}});
}

TEST_CASE("guard: no new MTU under a holder") {
  const ConfigureLink jumbo{kOne, "ens224f0", 9000U, {"192.168.30.201/24"}};
  const auto held_by = [](Scene& s, const char* device) {
    s.configure(by_pci(kOne), Manage::Auto, 9000U, {"192.168.30.201/24"});
    s.holders = {{7, "job", device}};
    s.facts.driver.refcount = 1U;
  };
  const auto held = [&](Scene& s) { held_by(s, "rocep19s0f1"); };
  check({{"held", jumbo, held, Outcome::InUse, "job (PID 7)"},
         {"held by an unseen process", jumbo,
          [&](Scene& s) {
            held(s);
            s.holders.clear();
          },
          Outcome::InUse, "cannot be named"},
         {"held by a process of another PID namespace", jumbo,
          [&](Scene& s) {
            held(s);
            s.holders = {{0, "", ""}};
          },
          Outcome::InUse, "not visible"},
         {"holders unreadable", jumbo,
          [&](Scene& s) {
            held(s);
            s.facts.holders = Field<std::vector<Holder>>::unreadable(kDenied);
          },
          kNo, "who holds"},
         {"the present MTU unreadable", jumbo,
          [&](Scene& s) {
            held(s);
            s.adapters[0].mtu = Field<unsigned>::unreadable(kDenied);
          },
          Outcome::InUse},
         {"it has that MTU",
          jumbo,
          [&](Scene& s) {
            held(s);
            s.adapters[0].mtu = 9000U;
          },
          {}},
         {"addresses only", ConfigureLink{kOne, "ens224f0", {}, {"192.168.30.201/24"}}, held, {}},
         {"the other adapter is held", jumbo, [&](Scene& s) { held_by(s, "rocep27s0f1"); }, {}},
         {"down: nothing is reset",
          jumbo,
          [&](Scene& s) {
            held(s);
            s.adapters[0].link_up = false;
          },
          {}}});
}

TEST_CASE("guard: no address is taken away under a holder") {
  Scene scene;
  const auto refused = [&](unsigned index) {
    scene.facts.holders = scene.holders;
    return adapter_refusal(scene.facts, scene.adapters[index]);
  };
  CHECK_FALSE(refused(0));
  scene.holders = {{7, "job", "rocep19s0f1"}};
  REQUIRE(refused(0));
  CHECK(refused(0)->outcome == Outcome::InUse);
  CHECK(refused(0)->holders == scene.holders);
  CHECK_FALSE(refused(1));
  // A device in another network namespace may be the one that is used.
  scene.adapters[1].pci.rdma_device = {};
  scene.facts.driver.refcount = 1U;
  CHECK(refused(1));
  scene.facts.driver.refcount = 0U;
  CHECK_FALSE(refused(1));
  scene.holders.clear();
  scene.facts.driver.refcount = 1U;
  CHECK(refused(0));
  scene.facts.holders = Field<std::vector<Holder>>::unreadable(kDenied);
  CHECK(adapter_refusal(scene.facts, scene.adapters[0])->outcome == Outcome::NotAllowed);
}

TEST_CASE("guard: holders are reported") {
  Scene scene;
  scene.holders = {{812, "ibv_asyncwatch", "rocep19s0f1"}, {813, "mpirun", "rocep27s0f1"}};
  const auto all = scene.ask(ReloadDriver{});
  REQUIRE(all);
  CHECK(all->holders == scene.holders);
  scene.config.every_adapter.mtu = 9000;
  const auto own = scene.ask(ConfigureLink{kOne, "ens224f0", 9000U, {}});
  REQUIRE(own);
  CHECK(own->holders == std::vector<Holder>{scene.holders[0]});
}

}  // namespace pvrdma::executor
