#include "agent/tools/metrics/command.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "agent/base/file.hpp"
#include "agent/base/notify.hpp"
#include "agent/base/text.hpp"
#include "agent/ctl/failure.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/ctl/follower.hpp"
#include "agent/tools/metrics/rendering.hpp"
#include "build_config.hpp"

namespace pvrdma::ctl {

namespace {

using News = Answered<Answer<Health>>;

std::string rendered(const Settings& settings, const News& news) {
  const metrics::Observation observation{news ? &news->value : nullptr, Moment::now(),
                                         PVRDMA_VERSION};
  return settings.json ? dumped(metrics::to_json(observation)) + "\n"
                       : metrics::prometheus_text(observation);
}

// Whoever reads the file sees the old text or the new. A device, as /dev/stdout, is not replaced.
Result<void> replace(const std::string& path, const std::string& text) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return fail(0, "writing", path + ": it is no regular file");
  return replace_file(path, text, 0644);
}

int write_out(const Settings& settings, const Console& console, const std::string& output,
              const News& news) {
  const std::string text = rendered(settings, news);
  if (output.empty() || output == "-") return console.print(text) ? 0 : kExitUnknown;
  if (const auto written = replace(output, text); !written)
    return end_without(settings, console, printable(written.error().message()));
  return 0;
}

// The latest of what has changed; an answer to a question of our own where nothing has: an agent
// that hangs says nothing, and one that goes on looking has looked again.
News next(Follower& follower, const Settings& settings, const MetricsOptions& options) {
  auto news = follower.next(options.refresh);
  if (!news) return ask_health(settings.socket, settings.answer_within);
  const BootTime end = BootClock::now() + options.burst;
  for (auto left = options.burst; left > Milliseconds{0}; left = end - BootClock::now())
    if (auto more = follower.next(left)) news = std::move(more);
  return std::move(*news);
}

int watch_metrics(const Settings& settings, const Console& console, const MetricsOptions& options) {
  const BootTime start = BootClock::now();
  Follower follower{settings.socket, settings.answer_within};
  do {
    const News news = next(follower, settings, options);
    if (const int code = write_out(settings, console, options.output, news); code != 0) return code;
    notify("READY", "1");
    notify("WATCHDOG", "1");
  } while (!options.limit || BootClock::now() - start < *options.limit);
  return 0;
}

}  // namespace

int print_metrics(const Settings& settings, const Console& console, const MetricsOptions& options) {
  if (options.watch) return watch_metrics(settings, console, options);
  return write_out(settings, console, options.output,
                   ask_health(settings.socket, settings.answer_within));
}

}  // namespace pvrdma::ctl
