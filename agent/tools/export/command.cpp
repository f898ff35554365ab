#include "agent/tools/export/command.hpp"

#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "agent/base/text.hpp"
#include "agent/ctl/failure.hpp"
#include "agent/ctl/verbs.hpp"
#include "agent/tools/export/formats.hpp"
#include "agent/tools/export/publisher.hpp"

namespace pvrdma::ctl {

namespace {

// Standard output, a file, or no file where there is nothing to have in it.
Result<void> put(const Console& console, const std::string& output,
                 const std::optional<std::string>& text) {
  const bool to_screen = output.empty() || output == "-";
  if (to_screen && !text) return fail(0, "no adapter has a device node", "");
  if (to_screen) {
    if (console.print(*text)) return {};
    return fail(errno, "writing", "standard output");
  }
  if (text) return replace_regular_file(output, *text);
  if (::unlink(output.c_str()) != 0 && errno != ENOENT) return fail(errno, "removing", output);
  return {};
}

// stat(2): access(2) of a device asks the unit's DevicePolicy= as well, which lets us open none.
bool is_there(const std::string& node) {
  std::error_code error;
  return std::filesystem::exists(node, error);
}

std::optional<std::string> text_of(const Health& health, const ExportOptions& options) {
  switch (options.format) {
    case ExportFormat::Cdi:
      return exports::cdi(health, is_there(options.connection_manager));
    case ExportFormat::NodeFeatures:
      return exports::node_features(health, Moment::now(), options.lifetime);
    case ExportFormat::Guestinfo:
      return exports::guestinfo(health, exports::this_boot(1)) + "\n";
  }
  return std::nullopt;
}

int write_text(const Settings& settings, const Console& console, const ExportOptions& options,
               const Health& health) {
  const auto written = put(console, options.output, text_of(health, options));
  return written ? 0 : end_without(settings, console, printable(written.error().message()));
}

int keep_file(const Settings& settings, const Console& console, const ExportOptions& options) {
  return keep_up(settings, options.pace, [&](const News& news) {
    return news ? write_text(settings, console, options, news->value) : 0;
  });
}

// An agent that does not answer is an answer for the host, as for Prometheus.
Health told_of(const News& news) { return news ? news->value : unknown_health(news.error()).value; }

int keep_published(const Settings& settings, const Console& console, const ExportOptions& options) {
  exports::Publisher publisher{options.heartbeat, options.tool_within};
  std::string told;  // of a host that refuses, once
  return keep_up(settings, options.pace, [&](const News& news) {
    const auto published = publisher.publish(told_of(news));
    const std::string trouble = published ? "" : printable(published.error().message());
    if (!trouble.empty() && trouble != told) console.complain(trouble);
    told = trouble;
    return 0;
  });
}

int publish_once(const Settings& settings, const Console& console, const ExportOptions& options) {
  exports::Publisher publisher{options.heartbeat, options.tool_within};
  const auto published =
      publisher.publish(told_of(ask_health(settings.socket, settings.answer_within)));
  return published ? 0 : end_without(settings, console, printable(published.error().message()));
}

}  // namespace

int print_export(const Settings& settings, const Console& console, const ExportOptions& options) {
  const bool to_screen = options.output.empty() || options.output == "-";
  if (options.publish && options.format != ExportFormat::Guestinfo)
    return end_without(settings, console, wrong_use("export", "--publish is for guestinfo"));
  if (options.watch && to_screen && !options.publish)
    return end_without(settings, console,
                       wrong_use("export", "--watch goes only with --output or --publish"));
  if (options.publish)
    return options.watch ? keep_published(settings, console, options)
                         : publish_once(settings, console, options);
  if (options.watch) return keep_file(settings, console, options);
  const auto answer = ask_health(settings.socket, settings.answer_within);
  if (!answer) return end_without(settings, console, answer.error());
  return write_text(settings, console, options, answer->value);
}

}  // namespace pvrdma::ctl
