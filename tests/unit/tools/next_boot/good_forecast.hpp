// SPDX-License-Identifier: GPL-2.0-or-later
// A forecast of a good next boot, which tests change, and its judgement.
#pragma once

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "agent/tools/next_boot/judge.hpp"
#include "tests/unit/catch.hpp"

namespace pvrdma::test {

inline constexpr const char* kNew = "6.1.0-18";
inline constexpr const char* kOld = "6.1.0-13";
inline constexpr const char* kImage = "/boot/initrd.img-6.1.0-18";
inline const Error kDenied{EACCES, "reading", "/some/file"};
inline const std::vector<std::string> kModules{"vmw_pvrdma", "vmxnet3", "mlx4_ib",
                                               "ib_umad",    "rdma_cm", "rdma_ucm"};
inline const std::vector<std::string> kBefore{kModules.begin() + 1, kModules.end()};

inline KernelForecast kernel(const std::string& release) {
  KernelForecast made;
  made.release = release;
  made.image = "/boot/vmlinuz-" + release;
  for (const std::string& name : kModules) made.modules.push_back({name, Shipped::Loadable});
  made.initramfs = InitramfsForecast{"/boot/initrd.img-" + release, kModules, true, ""};
  return made;
}

// A machine with a good next boot.
struct GoodForecast {
  Config config;
  Forecast ahead;

  GoodForecast() {
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

inline std::vector<FindingId> ids(const NextBoot& outcome) {
  std::vector<FindingId> list;
  for (const Finding& finding : outcome.findings) list.push_back(finding.id);
  return list;
}
using Ids = std::vector<FindingId>;

inline const ForecastCheck& check(const std::vector<ForecastCheck>& checks,
                                  const std::string& name) {
  const auto found = std::find_if(checks.begin(), checks.end(),
                                  [&](const ForecastCheck& one) { return one.name == name; });
  REQUIRE(found != checks.end());
  return *found;
}
inline const ForecastCheck& of_next(const NextBoot& outcome, const std::string& name) {
  REQUIRE(outcome.kernels.front().next);
  return check(outcome.kernels.front().checks, name);
}

}  // namespace pvrdma::test
