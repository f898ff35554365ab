// What a forecast means, from a machine whose next boot goes well, spoilt in one thing each.
#include "agent/tools/next_boot/judge.hpp"

#include <algorithm>
#include <cerrno>

#include "agent/tools/doctor/surroundings.hpp"
#include "tests/unit/catch.hpp"

namespace pvrdma {

namespace {

constexpr const char* kNew = "6.1.0-18";
constexpr const char* kOld = "6.1.0-13";
constexpr const char* kImage = "/boot/initrd.img-6.1.0-18";
const Error kDenied{EACCES, "reading", "/some/file"};
const std::vector<std::string> kModules{"vmw_pvrdma", "vmxnet3", "mlx4_ib",
                                        "ib_umad",    "rdma_cm", "rdma_ucm"};
const std::vector<std::string> kBefore{kModules.begin() + 1, kModules.end()};

KernelForecast kernel(const std::string& release) {
  KernelForecast made;
  made.release = release;
  made.image = "/boot/vmlinuz-" + release;
  for (const std::string& name : kModules) made.modules.push_back({name, Shipped::Loadable});
  made.initramfs = InitramfsForecast{"/boot/initrd.img-" + release, kModules, true, ""};
  return made;
}

struct Fixture {
  Config config;
  Forecast ahead;

  Fixture() {
    ahead.kernels = {kernel(kOld), kernel(kNew)};
    ahead.kernels.front().running = true;
    ahead.next = NextKernel{kNew, "a file"};
    ahead.predecessors = kBefore;
    ahead.agent = UnitFile{"/x/pvrdma-agent.service", true, false};
    ahead.executor = UnitFile{"/x/pvrdma-agent-executor.socket", false, false};
    ahead.login_memlock = MemlockLimit{{}, "/etc/security/limits.d/x.conf:1"};
    ahead.blocks = std::vector<ModuleBlock>{};
    ahead.links = {{"0000:13:00.1", "ens224f0", "00:50:56:8a:9f:c2", Manage::Auto, true, {}}};
  }
  KernelForecast& next() { return ahead.kernels.back(); }
  void ship(KernelForecast& which, const std::string& name, Field<Shipped> shipped) const {
    for (ShippedModule& module : which.modules)
      if (module.name == name) module.shipped = shipped;
  }
  [[nodiscard]] NextBoot judged() const { return judge(config, ahead); }
};

std::vector<FindingId> ids(const NextBoot& outcome) {
  std::vector<FindingId> list;
  for (const Finding& finding : outcome.findings) list.push_back(finding.id);
  return list;
}
using Ids = std::vector<FindingId>;

const ForecastCheck& check(const std::vector<ForecastCheck>& checks, const std::string& name) {
  const auto found = std::find_if(checks.begin(), checks.end(),
                                  [&](const ForecastCheck& one) { return one.name == name; });
  REQUIRE(found != checks.end());
  return *found;
}
const ForecastCheck& of_next(const NextBoot& outcome, const std::string& name) {
  REQUIRE(outcome.kernels.front().next);
  return check(outcome.kernels.front().checks, name);
}

}  // namespace

TEST_CASE_METHOD(Fixture, "next boot: all is well, the kernel that is next first") {
  const NextBoot outcome = judged();
  CHECK(outcome.driver == Outlook::Yes);
  CHECK(outcome.findings.empty());
  CHECK(outcome.unreadable.empty());
  REQUIRE(outcome.kernels.size() == 2);
  CHECK(outcome.kernels.front().release == kNew);
  CHECK(outcome.kernels.back().running);
  for (const KernelOutlook& one : outcome.kernels)
    for (const ForecastCheck& row : one.checks) CHECK(row.outlook == Outlook::Yes);
  for (const ForecastCheck& row : outcome.machine) CHECK(row.outlook == Outlook::Yes);
}

TEST_CASE_METHOD(Fixture, "next boot: the kernel that is next has no driver") {
  ship(next(), "vmw_pvrdma", Shipped::Missing);
  const NextBoot outcome = judged();
  CHECK(outcome.driver == Outlook::No);
  CHECK(ids(outcome) == Ids{FindingId::DriverNotShipped});
  CHECK(outcome.findings.front().values.at("kernel") == kNew);
  CHECK(outcome.kernels.front().checks.size() == 1);
}

TEST_CASE_METHOD(Fixture, "next boot: another kernel has no driver, or any may be next") {
  ship(ahead.kernels.front(), "vmw_pvrdma", Shipped::Missing);
  NextBoot outcome = judged();
  CHECK(outcome.driver == Outlook::Yes);
  CHECK(ids(outcome) == Ids{FindingId::KernelWithoutDriver});
  CHECK(outcome.findings.front().summary.find("not next") != std::string::npos);
  ahead.next = {};
  outcome = judged();
  CHECK(outcome.driver == Outlook::Unknown);
  CHECK(ids(outcome) == Ids{FindingId::KernelWithoutDriver});
  CHECK(outcome.findings.front().summary.find("cannot be told") != std::string::npos);
  ship(next(), "vmw_pvrdma", Shipped::Missing);
  CHECK(judged().driver == Outlook::No);
}

TEST_CASE_METHOD(Fixture, "next boot: without vmxnet3 the driver cannot probe") {
  ship(next(), "vmxnet3", Shipped::Missing);
  const NextBoot outcome = judged();
  CHECK(outcome.driver == Outlook::No);
  CHECK(ids(outcome) == Ids{FindingId::ModuleNotShipped});
  CHECK(outcome.findings.front().severity == Severity::Error);
}

TEST_CASE_METHOD(Fixture, "next boot: modules of the list are missing, needed or not") {
  ship(next(), "mlx4_ib", Shipped::Missing);
  NextBoot outcome = judged();
  CHECK(ids(outcome) == Ids{FindingId::ModuleNotShipped});
  CHECK(outcome.findings.front().severity == Severity::Info);
  CHECK(of_next(outcome, "modules").outlook == Outlook::Yes);
  ship(next(), "rdma_cm", Shipped::Missing);
  outcome = judged();
  CHECK(outcome.driver == Outlook::Yes);
  CHECK(of_next(outcome, "modules").outlook == Outlook::No);
  CHECK(std::any_of(outcome.findings.begin(), outcome.findings.end(),
                    [](const Finding& one) { return one.severity == Severity::Error; }));
  // Of another kernel the row tells, and no finding.
  ahead.next = NextKernel{kOld, "a file"};
  CHECK(ids(judged()).empty());
}

TEST_CASE_METHOD(Fixture, "next boot: a module index that is not there or may not be read") {
  for (const std::string& name : kModules)
    ship(next(), name, Field<Shipped>::unreadable({ENOENT, "reading", "/x"}));
  CHECK(judged().driver == Outlook::No);
  for (const std::string& name : kModules) ship(next(), name, Field<Shipped>::unreadable(kDenied));
  const NextBoot outcome = judged();
  CHECK(outcome.driver == Outlook::Unknown);
  CHECK(outcome.unreadable == std::vector<std::string>{kDenied.message()});
  CHECK(outcome.findings.empty());
}

TEST_CASE_METHOD(Fixture, "next boot: modules that are kept from being loaded") {
  ahead.blocks = std::vector<ModuleBlock>{{"ib_umad", "a line"}};
  NextBoot outcome = judged();
  CHECK(outcome.driver == Outlook::Yes);
  CHECK(ids(outcome) == Ids{FindingId::ModuleBlocked});
  CHECK(outcome.findings.front().severity == Severity::Warning);
  for (const char* name : {"vmw_pvrdma", "vmxnet3"}) {
    ahead.blocks = std::vector<ModuleBlock>{{name, "a line"}};
    outcome = judged();
    CHECK(outcome.driver == Outlook::No);
    REQUIRE(ids(outcome) == Ids{FindingId::ModuleBlocked});
    CHECK(outcome.findings.front().severity == Severity::Error);
  }
  ahead.blocks = Field<std::vector<ModuleBlock>>::unreadable(kDenied);
  CHECK(judged().driver == Outlook::Unknown);
  CHECK(judged().unreadable.size() == 1);
}

TEST_CASE_METHOD(Fixture, "next boot: modprobe.d sets no order, or half of one") {
  ahead.predecessors = {};
  NextBoot outcome = judged();
  CHECK(ids(outcome) == Ids{FindingId::OrderNotSet});
  CHECK(of_next(outcome, "order").outlook == Outlook::No);
  ahead.predecessors = std::vector<std::string>{"vmxnet3", "ib_umad", "rdma_cm", "rdma_ucm"};
  outcome = judged();
  REQUIRE(ids(outcome) == Ids{FindingId::OrderNotSet});
  CHECK(outcome.findings.front().values.at("modules") == "mlx4_ib");
  // What this kernel does not have, or has built in, cannot come too late.
  ship(next(), "mlx4_ib", Shipped::BuiltIn);
  CHECK(of_next(judged(), "order").outlook == Outlook::Yes);
  ahead.predecessors = Field<std::vector<std::string>>::unreadable(kDenied);
  CHECK(of_next(judged(), "order").outlook == Outlook::Unknown);
  CHECK(judged().unreadable.size() == 1);
}

TEST_CASE_METHOD(Fixture, "next boot: an initramfs that has the driver, but not all before it") {
  InitramfsForecast& image = *next().initramfs.get();
  image.modules = std::vector<std::string>{"vmw_pvrdma", "vmxnet3", "mlx4_ib"};
  const NextBoot outcome = judged();
  REQUIRE(ids(outcome) == Ids{FindingId::OrderNotSet});
  CHECK(outcome.findings.front().values.at("modules") == "ib_umad, rdma_cm, rdma_ucm");
  CHECK(outcome.findings.front().values.at("image") == kImage);
  CHECK(of_next(outcome, "initramfs").outlook == Outlook::No);
}

TEST_CASE_METHOD(Fixture, "next boot: an initramfs with an older modprobe.d") {
  InitramfsForecast& image = *next().initramfs.get();
  image.current = false;
  NextBoot outcome = judged();
  REQUIRE(ids(outcome) == Ids{FindingId::InitramfsOld});
  CHECK(outcome.findings.front().values.at("kernel") == kNew);
  // Without the driver in it, it loads nothing too early.
  image.modules = std::vector<std::string>{"vmxnet3"};
  CHECK(judged().findings.empty());
  // Who may not look into it goes by its time.
  image.modules = Field<std::vector<std::string>>::unreadable(kDenied);
  image.current = Field<bool>::unreadable(kDenied);
  outcome = judged();
  CHECK(outcome.findings.empty());
  CHECK(of_next(outcome, "initramfs").outlook == Outlook::Unknown);
  CHECK(outcome.unreadable.size() == 1);
  image.older_than = "/etc/modprobe.d/x.conf";
  CHECK(ids(judged()) == Ids{FindingId::InitramfsOld});
  next().initramfs = {};
  CHECK(of_next(judged(), "initramfs").outlook == Outlook::Yes);
}

TEST_CASE_METHOD(Fixture, "next boot: a kernel that is next and has no modules, or no kernel") {
  ahead.next = NextKernel{"6.9", "a file"};
  NextBoot outcome = judged();
  CHECK(outcome.driver == Outlook::No);
  CHECK(outcome.kernels.front().release == "6.9");
  CHECK(ids(outcome) == Ids{FindingId::DriverNotShipped});
  ahead.next = {};
  ahead.kernels.clear();
  outcome = judged();
  CHECK(ids(outcome) == Ids{FindingId::NoKernel});
  ahead.unreadable.push_back(kDenied);
  outcome = judged();
  CHECK(outcome.findings.empty());
  CHECK(outcome.driver == Outlook::Unknown);
}

TEST_CASE_METHOD(Fixture, "next boot: the agent does not start") {
  const auto summary = [&] {
    const NextBoot outcome = judged();
    CHECK(check(outcome.machine, "agent").outlook == Outlook::No);
    for (const Finding& one : outcome.findings)
      if (one.id == FindingId::AgentNotEnabled) return one.summary;
    return std::string{};
  };
  ahead.agent.get()->enabled = false;
  CHECK(summary().find("not enabled") != std::string::npos);
  ahead.agent.get()->masked = true;
  CHECK(summary().find("is masked") != std::string::npos);
  ahead.agent = {};
  CHECK(summary().find("not installed") != std::string::npos);
  // Nobody has the link then.
  CHECK(ids(judged()) == Ids{FindingId::AgentNotEnabled, FindingId::LinkUnowned});
  ahead.agent = Fixture{}.ahead.agent;
  ahead.executor.get()->masked = true;
  CHECK(summary().find("executor.socket is masked") != std::string::npos);
  ahead.agent = Field<UnitFile>::unreadable(kDenied);
  CHECK(check(judged().machine, "agent").outlook == Outlook::Unknown);
  CHECK(judged().unreadable.size() == 1);
}

TEST_CASE_METHOD(Fixture, "next boot: who has the link") {
  LinkForecast& link = ahead.links.front();
  const auto says = [&] { return check(judged().machine, "link"); };
  CHECK(says().says == "ens224f0 (0000:13:00.1): this agent");
  link.addressed = false;
  REQUIRE(ids(judged()) == Ids{FindingId::LinkUnowned});
  CHECK(judged().findings.front().severity == Severity::Info);
  CHECK(judged().findings.front().adapter == "0000:13:00.1");
  link.owner = LinkOwner{LinkManager::NetworkManager, false, ""};
  CHECK(judged().findings.empty());
  CHECK(says().says == "ens224f0 (0000:13:00.1): this agent, unless it is taken by NetworkManager");
  link.owner = LinkOwner{LinkManager::Networkd, true, "/etc/x.network"};
  CHECK(says().says == "ens224f0 (0000:13:00.1): systemd-networkd, by /etc/x.network");
  CHECK(says().outlook == Outlook::Yes);
  link.manage = Manage::Agent;
  CHECK(says().says ==
        "ens224f0 (0000:13:00.1): this agent, and systemd-networkd, by /etc/x.network");
}

TEST_CASE_METHOD(Fixture, "next boot: nobody has the link, or that is not known") {
  LinkForecast& link = ahead.links.front();
  link.manage = Manage::Observe;
  REQUIRE(ids(judged()) == Ids{FindingId::LinkUnowned});
  CHECK(judged().findings.front().severity == Severity::Warning);
  CHECK(check(judged().machine, "link").outlook == Outlook::No);
  link.owner = LinkOwner{LinkManager::NetworkManager, false, ""};
  CHECK(judged().findings.empty());
  CHECK(check(judged().machine, "link").outlook == Outlook::Unknown);
  link.owner = Field<LinkOwner>::unreadable(kDenied);
  CHECK(judged().unreadable.size() == 1);
  // What is not of a function in this machine has no adapter.
  link = {"mac = \"00:50:56:8a:9f:c2\"", "", "00:50:56:8a:9f:c2", Manage::Observe, false, {}};
  CHECK_FALSE(judged().findings.front().adapter.has_value());
}

TEST_CASE_METHOD(Fixture, "next boot: limits of locked memory") {
  ahead.login_memlock = MemlockLimit{std::uint64_t{8} << 20U, "systemd's default"};
  ahead.unit_memlocks = {{"slurmd.service", MemlockLimit{65536U, "/x:2"}},
                         {"big.service", MemlockLimit{kLargeMemlockBytes, ""}},
                         {"none.service", {}},
                         {"closed.service", Field<MemlockLimit>::unreadable(kDenied)}};
  const NextBoot outcome = judged();
  CHECK(ids(outcome) == Ids{FindingId::MemlockLow, FindingId::MemlockLow, FindingId::NoSuchUnit});
  CHECK(outcome.findings[0].severity == Severity::Info);
  CHECK(outcome.findings[0].values.at("limit") == "8 MiB");
  CHECK(outcome.findings[1].severity == Severity::Warning);
  CHECK(outcome.findings[1].values.at("limit") == "64 KiB");
  CHECK(outcome.findings[1].values.at("unit") == "slurmd.service");
  CHECK(outcome.unreadable.size() == 1);
}

TEST_CASE_METHOD(Fixture, "next boot: a script that reloads the driver as well") {
  ahead.boot_scripts = {{"/etc/rc.local", false}};
  CHECK(ids(judged()) == Ids{FindingId::BootScript});
}

}  // namespace pvrdma
