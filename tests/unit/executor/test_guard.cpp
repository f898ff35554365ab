// The guard, as tables: what is asked, what is so, and whether it may be done.
#include <cerrno>
#include <functional>

#include "agent/executor/guard.hpp"
#include "tests/unit/catch.hpp"

namespace pvrdma::executor {

namespace {

constexpr const char* kOne = "0000:13:00.1";
constexpr const char* kTwo = "0000:1b:00.1";
const Error kDenied{EACCES, "reading", "a file"};

AdapterFacts adapter(const std::string& function, const std::string& netdev,
                     const std::string& device, const std::string& mac) {
  AdapterFacts facts;
  facts.pci.function = function;
  facts.pci.net_function = function.substr(0, function.size() - 1) + "0";
  facts.pci.driver = std::string{"vmw_pvrdma"};
  facts.pci.net_driver = std::string{"vmxnet3"};
  facts.pci.netdev = netdev;
  facts.pci.rdma_device = device;
  facts.mac = mac;
  facts.owner = {};
  return facts;
}

// Two adapters, the driver live, nobody holds anything.
struct Scene {
  Config config;
  Facts facts;
  std::vector<AdapterFacts> adapters{adapter(kOne, "ens224f0", "rocep19s0f1", "00:50:56:8a:9f:c2"),
                                     adapter(kTwo, "ens256f0", "rocep27s0f1", "00:50:56:8a:00:01")};
  std::vector<Holder> holders;

  Scene() {
    facts.driver.name = "vmw_pvrdma";
    facts.driver.init = ModuleInit::Live;
    facts.driver.refcount = 0U;
  }
  void configure(AdapterMatch match, Manage manage, std::optional<unsigned> mtu = {},
                 std::vector<std::string> addresses = {}) {
    config.adapters.push_back({std::move(match), manage, mtu, std::move(addresses)});
  }
  std::optional<Report> ask(const Operation& operation) {
    if (!facts.adapters.is_unreadable()) facts.adapters = adapters;
    if (!facts.holders.is_unreadable()) facts.holders = holders;
    return refusal(operation, config, facts);
  }
};

AdapterMatch by_mac(const char* mac) { return {mac, {}, {}}; }
AdapterMatch by_pci(const char* pci) { return {{}, pci, {}}; }
AdapterMatch by_netdev(const char* name) { return {{}, {}, name}; }

const ConfigureLink kUp{kOne, "ens224f0", {}, {}};
const BounceLink kBounce{kOne, "ens224f0"};

struct GuardCase {
  const char* what;
  Operation operation;
  std::function<void(Scene&)> change;
  std::optional<Outcome> refused;  // none: allowed
  const char* reason = "";         // part of the refusal's detail
};

void check(const std::vector<GuardCase>& cases) {
  for (const GuardCase& one : cases) {
    INFO(one.what);
    Scene scene;
    one.change(scene);
    const auto report = scene.ask(one.operation);
    if (report) INFO("refused: " << report->detail);
    CHECK(report.has_value() == one.refused.has_value());
    if (!report || !one.refused) continue;
    CHECK(report->outcome == *one.refused);
    CHECK(report->detail.find(one.reason) != std::string::npos);
  }
}

const auto kAsIs = [](Scene&) {};
constexpr auto kNo = Outcome::NotAllowed;

}  // namespace

TEST_CASE("guard: modules") {
  check({{"of the list", LoadModule{"ib_umad"}, kAsIs, {}},
         {"spelled with dashes", LoadModule{"rdma-cm"}, kAsIs, {}},
         {"vmxnet3", LoadModule{"vmxnet3"}, kAsIs, {}},
         {"vmw_pvrdma", LoadModule{"vmw_pvrdma"}, kAsIs, {}},
         {"not of the list", LoadModule{"floppy"}, kAsIs, kNo, "floppy is not in modules.before"},
         {"empty", LoadModule{""}, kAsIs, kNo},
         {"no more of the list", LoadModule{"ib_umad"},
          [](Scene& s) { s.config.modules.before = {}; }, kNo}});
}

TEST_CASE("guard: bind") {
  const auto unbound = [](Scene& s) { s.adapters[0].pci.driver = {}; };
  check(
      {{"without a driver", BindFunction{kOne}, unbound, {}},
       {"bound already", BindFunction{kOne}, kAsIs, {}},
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

TEST_CASE("guard: what takes the driver away") {
  for (const Operation& operation : {Operation{ReloadDriver{}}, Operation{RebindFunction{kOne}}}) {
    INFO(describe(operation));
    check({{"nobody holds anything", operation, kAsIs, {}},
           {"reload = never", operation,
            [](Scene& s) { s.config.modules.reload = ReloadPolicy::Never; }, kNo, "never"},
           {"reload = always",
            operation,
            [](Scene& s) { s.config.modules.reload = ReloadPolicy::Always; },
            {}},
           {"a holder of the other adapter", operation,
            [](Scene& s) {
              s.holders = {{812, "ibv_asyncwatch", "rocep27s0f1"}};
            },
            Outcome::InUse, "ibv_asyncwatch (PID 812)"},
           {"holders unreadable", operation,
            [](Scene& s) { s.facts.holders = Field<std::vector<Holder>>::unreadable(kDenied); },
            kNo, "who holds"},
           {"a count that nobody explains", operation,
            [](Scene& s) { s.facts.driver.refcount = 1U; }, Outcome::InUse, "used 1 times"},
           {"count unreadable", operation,
            [](Scene& s) { s.facts.driver.refcount = Field<unsigned>::unreadable(kDenied); }, kNo,
            "reference count"},
           {"a script that has not ended", operation,
            [](Scene& s) {
              s.facts.boot_scripts = {{"/etc/rc.local", false}};
            },
            kNo, "/etc/rc.local unloads or loads vmw_pvrdma at boot and has not ended"},
           {"a script that has",
            operation,
            [](Scene& s) {
              s.facts.boot_scripts = {{"/etc/rc.local", true}};
            },
            {}},
           {"coming", operation, [](Scene& s) { s.facts.driver.init = ModuleInit::Coming; }, kNo,
            "not live"},
           {"state unreadable", operation,
            [](Scene& s) { s.facts.driver.init = Field<ModuleInit>::unreadable(kDenied); }, kNo,
            "state of vmw_pvrdma"}});
  }
  const auto built_in = [](Scene& s) {
    s.facts.driver.init = ModuleInit::BuiltIn;
    s.facts.driver.refcount = {};
  };
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
         {"rebind, built in", RebindFunction{kOne}, built_in, {}},
         {"rebind, unbound", RebindFunction{kOne}, [](Scene& s) { s.adapters[0].pci.driver = {}; },
          kNo, "not bound"},
         {"rebind, no such function", RebindFunction{"0000:99:00.1"}, kAsIs, kNo, "15ad:0820"}});
}

TEST_CASE("guard: the link") {
  for (const Operation& operation : {Operation{kUp}, Operation{kBounce}}) {
    INFO(describe(operation));
    check({{"no configuration", operation, kAsIs, {}},
           {"driver coming", operation, [](Scene& s) { s.facts.driver.init = ModuleInit::Coming; },
            kNo, "coming"},
           {"driver going", operation, [](Scene& s) { s.facts.driver.init = ModuleInit::Going; },
            kNo, "going"},
           {"driver not loaded", operation, [](Scene& s) { s.facts.driver.init = {}; }, kNo,
            "not loaded"},
           {"no netdev", operation, [](Scene& s) { s.adapters[0].pci.netdev = {}; }, kNo},
           {"renamed meanwhile", operation,
            [](Scene& s) { s.adapters[0].pci.netdev = std::string{"eth1"}; }, kNo,
            "ens224f0 is not the link of 0000:13:00.1 (eth1 is)"},
           {"observed, by MAC", operation,
            [](Scene& s) { s.configure(by_mac("00:50:56:8a:9f:c2"), Manage::Observe); }, kNo,
            "observe"},
           {"observed, by function", operation,
            [](Scene& s) { s.configure(by_pci(kOne), Manage::Observe); }, kNo, "observe"},
           {"observed, by net function", operation,
            [](Scene& s) { s.configure(by_pci("0000:13:00.0"), Manage::Observe); }, kNo, "observe"},
           {"observed, by netdev", operation,
            [](Scene& s) { s.configure(by_netdev("ens224f0"), Manage::Observe); }, kNo, "observe"},
           {"a network manager has it", operation,
            [](Scene& s) {
              s.adapters[0].owner = LinkOwner{LinkManager::Networkd, true, "/x.network"};
            },
            kNo, "systemd-networkd configures the link"},
           {"whose it is cannot be read", operation,
            [](Scene& s) { s.adapters[0].owner = Field<LinkOwner>::unreadable(kDenied); }, kNo,
            "who configures the link"},
           {"a network manager has not decided",
            operation,
            [](Scene& s) {
              s.adapters[0].owner = LinkOwner{LinkManager::NetworkManager, false, {}};
            },
            {}},
           {"a network manager has it, but the configuration gives it to us",
            operation,
            [](Scene& s) {
              s.adapters[0].owner = LinkOwner{LinkManager::Networkd, true, "/x.network"};
              s.configure(by_pci(kOne), Manage::Agent);
            },
            {}},
           {"the other one observed",
            operation,
            [](Scene& s) { s.configure(by_netdev("ens256f0"), Manage::Observe); },
            {}},
           {"the first match counts",
            operation,
            [](Scene& s) {
              s.configure(by_netdev("ens224f0"), Manage::Agent);
              s.configure(by_pci(kOne), Manage::Observe);
            },
            {}},
           {"MAC unreadable, perhaps observed", operation,
            [](Scene& s) {
              s.adapters[0].mac = Field<std::string>::unreadable(kDenied);
              s.configure(by_mac("00:50:56:8a:9f:c2"), Manage::Observe);
            },
            kNo, "MAC"}});
  }
  check({{"another's link", ConfigureLink{kOne, "ens256f0", {}, {}}, kAsIs, kNo, "not the link"},
         {"a NIC that is no adapter's", ConfigureLink{kOne, "eth0", {}, {}}, kAsIs, kNo},
         {"bounce, own holder", kBounce,
          [](Scene& s) {
            s.holders = {{7, "job", "rocep19s0f1"}};
          },
          Outcome::InUse, "job (PID 7)"},
         {"bounce, holder of the other",
          kBounce,
          [](Scene& s) {
            s.holders = {{7, "job", "rocep27s0f1"}};
            s.facts.driver.refcount = 1U;
          },
          {}},
         {"bounce, holder of who knows what", kBounce,
          [](Scene& s) {
            s.holders = {{0, "", ""}};
          },
          Outcome::InUse, "not visible"},
         {"bounce, holders unreadable", kBounce,
          [](Scene& s) { s.facts.holders = Field<std::vector<Holder>>::unreadable(kDenied); }, kNo},
         {"bounce, a count that nobody explains", kBounce,
          [](Scene& s) { s.facts.driver.refcount = 2U; }, Outcome::InUse},
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
         {"configured for the other adapter", ConfigureLink{kTwo, "ens256f0", 9000U, {}},
          configured, kNo, "MTU 9000"}});
}

TEST_CASE("guard: holders are handed on") {
  Scene scene;
  scene.holders = {{812, "ibv_asyncwatch", "rocep19s0f1"}, {813, "mpirun", "rocep27s0f1"}};
  const auto all = scene.ask(ReloadDriver{});
  REQUIRE(all);
  CHECK(all->holders == scene.holders);
  const auto own = scene.ask(kBounce);
  REQUIRE(own);
  CHECK(own->holders == std::vector<Holder>{scene.holders[0]});
}

}  // namespace pvrdma::executor
