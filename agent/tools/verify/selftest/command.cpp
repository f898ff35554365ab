// SPDX-License-Identifier: GPL-2.0-or-later
// `selftest`: connects a device to itself by RC, to prove provider, driver, memlock limit and data
// path. The helper program calls the verbs (helper_main.cpp).
#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/base/program.hpp"
#include "agent/ctl/json_text.hpp"
#include "agent/tools/verify/commands.hpp"
#include "agent/tools/verify/devices.hpp"
#include "agent/tools/verify/selftest/report.hpp"

namespace pvrdma::ctl {

namespace {

using selftest::Report;

// The helper program sees to its own time; this is for the one that hangs.
constexpr std::size_t kOutputLimitBytes = 16384;
constexpr Milliseconds kGrace = std::chrono::seconds{1};

// An Error: nothing was tested, because the program or something that it needs is missing.
Result<Report> test(const verify::Target& target, const SelftestOptions& options) {
  if (target.device.empty()) {
    Report report;
    report.device = target.function;
    report.failure = selftest::StepFailure{{}, 0, 0, "the adapter has no RDMA device"};
    return report;
  }
  const Gid* gid = verify::choose_gid(target.gids);
  const BootTime start = BootClock::now();
  // The helper gets the shell's own environment, because that decides which libibverbs a job gets.
  const auto run =
      run_program({{options.program, target.device, std::to_string(gid != nullptr ? gid->index : 0),
                    std::to_string(options.timeout.count())},
                   std::nullopt,
                   options.timeout + kGrace,
                   kOutputLimitBytes,
                   -1,
                   SIGTERM});
  if (!run) return fail(run.error());
  if (selftest::lacks_libraries(*run))
    return fail(0, first_line(run->output) + ".",
                "Install libibverbs1 and ibverbs-providers (Debian, Ubuntu), or libibverbs "
                "(Enterprise Linux)");
  Report report = selftest::report_of(*run);
  report.device = target.device;
  if (gid != nullptr) report.gid = *gid;
  report.took = BootClock::now() - start;
  return report;
}

}  // namespace

int self_test(const Settings& settings, const Console& console, const SelftestOptions& options) {
  const auto targets = verify::find_targets(options.root, options.device);
  if (!targets) return end_without(settings, console, targets.error());
  std::vector<Report> reports;
  bool printed = true;
  for (const verify::Target& target : *targets) {
    auto report = test(target, options);
    if (!report) return end_without(settings, console, report.error());
    if (!settings.json)
      printed = console.print(selftest::render(*report, console.style())) && printed;
    reports.push_back(std::move(*report));
  }
  if (settings.json) printed = console.print(dumped(selftest::to_json(reports)) + "\n");
  const bool passed = std::all_of(reports.begin(), reports.end(),
                                  [](const Report& report) { return report.passed; });
  if (!printed) return kExitUnknown;
  return passed ? 0 : kExitFailed;
}

}  // namespace pvrdma::ctl
