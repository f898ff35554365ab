// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/metrics/command.hpp"

#include <nlohmann/json.hpp>

#include "agent/base/text.hpp"
#include "agent/ctl/json_text.hpp"
#include "agent/tools/metrics/rendering.hpp"
#include "agent/tools/metrics/report_service.hpp"
#include "build_config.hpp"

namespace pvrdma::ctl {

int print_metrics(const Settings& settings, const Console& console, const MetricsOptions& options) {
  const auto ended = [&](const Result<void>& done) {
    return done ? 0 : end_without(settings, console, done.error());
  };
  if (options.serve) return ended(metrics::serve(settings, options.read_boot));
  metrics::BootSteps boot{options.read_boot};
  const auto write = [&](const HealthResult& news) {
    const metrics::Observation observation{news ? &news->value : nullptr, boot.latest(),
                                           Moment::now(), PVRDMA_VERSION};
    const std::string text = settings.json ? dumped(metrics::to_json(observation)) + "\n"
                                           : metrics::prometheus_text(observation);
    if (options.output.empty() || options.output == "-")
      return console.print(text) ? 0 : kExitUnknown;
    return ended(replace_regular_file(options.output, text));
  };
  if (options.watch) return keep_up(settings, options.pace, write);
  return write(ask_health(settings.socket, settings.answer_within));
}

}  // namespace pvrdma::ctl
