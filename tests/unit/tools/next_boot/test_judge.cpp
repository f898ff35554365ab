// SPDX-License-Identifier: GPL-2.0-or-later
// The judgement of a forecast's kernels, modules and initramfs.
#include "agent/base/text.hpp"
#include "tests/unit/tools/next_boot/good_forecast.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

TEST_CASE_METHOD(GoodForecast, "next boot: all is well, the kernel that is next first") {
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

TEST_CASE_METHOD(GoodForecast, "next boot: the next kernel has no driver") {
  ship(next(), "vmw_pvrdma", Shipped::Missing);
  const NextBoot outcome = judged();
  CHECK(outcome.driver == Outlook::No);
  CHECK(ids(outcome) == Ids{FindingId::DriverNotShipped});
  CHECK(outcome.findings.front().values.at("kernel") == kNew);
  CHECK(outcome.kernels.front().checks.size() == 1);
}

TEST_CASE_METHOD(GoodForecast, "next boot: another kernel has no driver, or any may be next") {
  ship(ahead.kernels.front(), "vmw_pvrdma", Shipped::Missing);
  NextBoot outcome = judged();
  CHECK(outcome.driver == Outlook::Yes);
  CHECK(ids(outcome) == Ids{FindingId::KernelWithoutDriver});
  CHECK(outcome.findings.front().summary.find("not next") != std::string::npos);
  // Debian and Enterprise Linux 10 have no package with the driver.
  CHECK(has_part(outcome.findings.front().remedy, "linux-headers-" + std::string{kOld}));
  CHECK(has_part(outcome.findings.front().remedy, "kernel-modules-" + std::string{kOld}));
  ahead.next = {};
  outcome = judged();
  CHECK(outcome.driver == Outlook::Unknown);
  CHECK(ids(outcome) == Ids{FindingId::KernelWithoutDriver});
  CHECK(outcome.findings.front().summary.find("is not known whether") != std::string::npos);
  CHECK(has_part(outcome.findings.front().remedy, "kernel-devel-" + std::string{kOld}));
  CHECK(has_part(outcome.findings.front().remedy, "kernel-modules-" + std::string{kOld}));
  ship(next(), "vmw_pvrdma", Shipped::Missing);
  CHECK(judged().driver == Outlook::No);
}

TEST_CASE_METHOD(GoodForecast, "next boot: without vmxnet3 the driver cannot probe") {
  ship(next(), "vmxnet3", Shipped::Missing);
  const NextBoot outcome = judged();
  CHECK(outcome.driver == Outlook::No);
  CHECK(ids(outcome) == Ids{FindingId::ModuleNotShipped});
  CHECK(outcome.findings.front().severity == Severity::Error);
}

TEST_CASE_METHOD(GoodForecast, "next boot: Secure Boot refuses a driver without a signature") {
  next().driver_signed = true;
  CHECK(judged().driver == Outlook::Yes);
  next().driver_signed = false;
  NextBoot outcome = judged();
  CHECK(outcome.driver == Outlook::No);
  REQUIRE(ids(outcome) == Ids{FindingId::DriverUnsigned});
  CHECK(outcome.findings.front().severity == Severity::Error);
  CHECK(outcome.findings.front().values.at("kernel") == kNew);
  next().driver_signed = Field<bool>::unreadable(kDenied);
  CHECK(judged().driver == Outlook::Unknown);
  CHECK(judged().unreadable == std::vector<std::string>{kDenied.message()});
  // A kernel that is not next may have such a driver, as DKMS has not signed it yet.
  next().driver_signed = true;
  ahead.kernels.front().driver_signed = false;
  outcome = judged();
  CHECK(outcome.driver == Outlook::Yes);
  CHECK(outcome.findings.empty());
}

TEST_CASE_METHOD(GoodForecast, "next boot: modules of the list are missing, needed or not") {
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
  // A fault of another kernel is in its row, and is no finding.
  ahead.next = NextKernel{kOld, "a file"};
  CHECK(ids(judged()).empty());
}

TEST_CASE_METHOD(GoodForecast, "next boot: a module index that is missing or may not be read") {
  for (const std::string& name : kModules)
    ship(next(), name, Field<Shipped>::unreadable({ENOENT, "reading", "/x"}));
  CHECK(judged().driver == Outlook::No);
  for (const std::string& name : kModules) ship(next(), name, Field<Shipped>::unreadable(kDenied));
  const NextBoot outcome = judged();
  CHECK(outcome.driver == Outlook::Unknown);
  CHECK(of_next(outcome, "modules").outlook == Outlook::Unknown);
  for (const ForecastCheck& row : outcome.kernels.front().checks) CHECK(row.name != "order");
  CHECK(outcome.unreadable == std::vector<std::string>{kDenied.message()});
  CHECK(outcome.findings.empty());
}

TEST_CASE_METHOD(GoodForecast, "next boot: an unreadable /boot is reported once") {
  for (KernelForecast& kernel : ahead.kernels)
    kernel.image = Field<std::string>::unreadable(kDenied);
  CHECK(judged().unreadable == std::vector<std::string>{kDenied.message()});
}

TEST_CASE_METHOD(GoodForecast, "next boot: modules that are kept from being loaded") {
  ahead.blocks = std::vector<ModuleBlock>{{"ib_umad", "a line"}};
  NextBoot outcome = judged();
  CHECK(outcome.driver == Outlook::Yes);
  CHECK(ids(outcome) == Ids{FindingId::ModuleBlocked});
  CHECK(outcome.findings.front().severity == Severity::Warning);
  // Without it health is failed.
  ahead.blocks = std::vector<ModuleBlock>{{"rdma_cm", "a line"}};
  outcome = judged();
  CHECK(outcome.driver == Outlook::Yes);
  REQUIRE(ids(outcome) == Ids{FindingId::ModuleBlocked});
  CHECK(outcome.findings.front().severity == Severity::Error);
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

TEST_CASE_METHOD(GoodForecast, "next boot: modprobe.d sets no order, or half of one") {
  ahead.predecessors = {};
  NextBoot outcome = judged();
  CHECK(ids(outcome) == Ids{FindingId::OrderNotSet});
  CHECK(has_part(outcome.findings.front().remedy, "only the first one counts"));
  CHECK(of_next(outcome, "order").outlook == Outlook::No);
  ahead.predecessors = std::vector<std::string>{"vmxnet3", "ib_umad", "rdma_cm", "rdma_ucm"};
  outcome = judged();
  REQUIRE(ids(outcome) == Ids{FindingId::OrderNotSet});
  CHECK(outcome.findings.front().values.at("modules") == "mlx4_ib");
  // A module that this kernel does not ship, or has built in, cannot come too late.
  ship(next(), "mlx4_ib", Shipped::BuiltIn);
  CHECK(of_next(judged(), "order").outlook == Outlook::Yes);
  ahead.predecessors = Field<std::vector<std::string>>::unreadable(kDenied);
  CHECK(of_next(judged(), "order").outlook == Outlook::Unknown);
  CHECK(judged().unreadable.size() == 1);
}

TEST_CASE_METHOD(GoodForecast,
                 "next boot: an initramfs that has the driver, but not all before it") {
  InitramfsForecast& image = *next().initramfs.get();
  image.modules = std::vector<std::string>{"vmw_pvrdma", "vmxnet3", "mlx4_ib"};
  const NextBoot outcome = judged();
  REQUIRE(ids(outcome) == Ids{FindingId::OrderNotSet});
  CHECK(outcome.findings.front().values.at("modules") == "ib_umad, rdma_cm, rdma_ucm");
  CHECK(outcome.findings.front().values.at("image") == kImage);
  CHECK(of_next(outcome, "initramfs").outlook == Outlook::No);
}

TEST_CASE_METHOD(GoodForecast, "next boot: an initramfs with an older modprobe.d") {
  InitramfsForecast& image = *next().initramfs.get();
  image.current = false;
  NextBoot outcome = judged();
  REQUIRE(ids(outcome) == Ids{FindingId::InitramfsOld});
  CHECK(outcome.findings.front().values.at("kernel") == kNew);
  // An image without the driver loads nothing too early.
  image.modules = std::vector<std::string>{"vmxnet3"};
  CHECK(judged().findings.empty());
  // A user who may not read the image gets a judgement by its time.
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

TEST_CASE_METHOD(GoodForecast, "next boot: the next kernel has no modules, or there is no kernel") {
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
