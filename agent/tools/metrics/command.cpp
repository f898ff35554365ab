#include "agent/tools/metrics/command.hpp"

#include <nlohmann/json.hpp>

#include "agent/base/text.hpp"
#include "agent/ctl/failure.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/ctl/keeping.hpp"
#include "agent/tools/metrics/rendering.hpp"
#include "agent/tools/metrics/report_service.hpp"
#include "build_config.hpp"

namespace pvrdma::ctl {

namespace {

std::string rendered(const Settings& settings, const News& news, const Timeline* boot) {
  const metrics::Observation observation{news ? &news->value : nullptr, boot, Moment::now(),
                                         PVRDMA_VERSION};
  return settings.json ? dumped(metrics::to_json(observation)) + "\n"
                       : metrics::prometheus_text(observation);
}

int write_out(const Settings& settings, const Console& console, const std::string& output,
              const News& news, const Timeline* boot) {
  const std::string text = rendered(settings, news, boot);
  if (output.empty() || output == "-") return console.print(text) ? 0 : kExitUnknown;
  if (const auto written = replace_regular_file(output, text); !written)
    return end_without(settings, console, printable(written.error().message()));
  return 0;
}

}  // namespace

int print_metrics(const Settings& settings, const Console& console, const MetricsOptions& options) {
  if (options.serve) return serve_metrics(settings, console, options);
  metrics::BootSteps boot{options.read_boot};
  const auto write = [&](const News& news) {
    return write_out(settings, console, options.output, news, boot.latest());
  };
  if (options.watch) return keep_up(settings, options.pace, write);
  return write(ask_health(settings.socket, settings.answer_within));
}

}  // namespace pvrdma::ctl
