#include "agent/tools/next_boot/command.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/config/config_files.hpp"
#include "agent/ctl/failure.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/ctl/text.hpp"
#include "agent/tools/next_boot/look_ahead.hpp"
#include "agent/tools/next_boot/rendering.hpp"

namespace pvrdma::ctl {

namespace {

constexpr int kExitWarnings = 1;
constexpr int kExitNoDriver = 2;

int exit_code_for(const NextBoot& outcome) {
  if (outcome.driver == Outlook::No) return kExitNoDriver;
  if (outcome.kernels.empty()) return kExitUnknown;
  const bool warned =
      std::any_of(outcome.findings.begin(), outcome.findings.end(),
                  [](const Finding& finding) { return finding.severity != Severity::Info; });
  if (warned) return kExitWarnings;
  return outcome.unreadable.empty() ? 0 : kExitUnknown;
}

}  // namespace

int next_boot(const Settings& settings, const Console& console, const NextBootOptions& options) {
  const Root root{options.root};
  const auto loaded = load_config(root);
  if (!loaded) return end_without(settings, console, printable(loaded.error().message()));
  const Forecast forecast = probes::look_ahead(
      {root, loaded->config, options.units, options.module_lookup, options.initramfs_content});
  const NextBoot outcome = judge(loaded->config, forecast);
  if (!settings.json)
    for (const std::string& error : outcome.unreadable)
      console.complain("not all could be looked at: " + printable(error));
  const bool printed =
      console.print(settings.json ? dumped(to_json(outcome, forecast.next)) + "\n"
                                  : render_next_boot(outcome, forecast.next, console.style()));
  return printed ? exit_code_for(outcome) : kExitUnknown;
}

}  // namespace pvrdma::ctl
