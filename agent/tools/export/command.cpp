// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/export/command.hpp"

#include <systemd/sd-id128.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "agent/base/file.hpp"
#include "agent/base/format.hpp"
#include "agent/base/program.hpp"
#include "agent/base/text.hpp"
#include "agent/ctl/verbs.hpp"
#include "agent/tools/export/formats.hpp"
#include "probes/pci.hpp"

namespace pvrdma::ctl {

namespace {

constexpr const char* kConnectionManager = "/dev/infiniband/rdma_cm";
// The labels of Node Feature Discovery lapse after this time unless they are renewed.
constexpr Milliseconds kLabelLifetime = std::chrono::minutes{5};
// The variable of the VM that holds the verdict. Any process of the guest may write it, so it
// proves nothing.
constexpr const char* kGuestinfoKey = "guestinfo.pvrdma-agent.health";

// Writes the text to standard output or to a file; without text the file is removed.
Result<void> put(const Console& console, const std::string& output,
                 const std::optional<std::string>& text) {
  if (output.empty() || output == "-") {
    if (!text) return fail(0, "no adapter has a device node", "");
    if (!console.print(*text)) return fail(errno, "writing", "standard output");
    return {};
  }
  return text ? replace_regular_file(output, *text) : remove_regular_file(output);
}

exports::Edition this_boot(std::uint64_t counter) {
  sd_id128_t id{};
  std::array<char, SD_ID128_STRING_MAX> text{};
  if (::sd_id128_get_boot(&id) >= 0) ::sd_id128_to_string(id, text.data());
  return {text.data(), counter, Moment::now()};
}

// The agent's user may be an attacker, and container engines give the nodes in the text to
// containers as root. So the node of another device must not get into the text.
exports::Belongs nodes_of(const Root& root) {
  return [&root](const std::string& function, const std::string& uverbs) {
    const RootedPath folder = probes::function_path(root, function);
    const auto driver = link_target_name(folder / "driver");
    return driver && *driver == kDriverModule && status_of(folder / "infiniband_verbs" / uverbs);
  };
}

std::optional<std::string> text_of(const Health& health, const ExportOptions& options) {
  std::error_code error;
  switch (options.format) {
    case ExportFormat::Cdi:
      // stat(2) is enough. access(2) of a device also checks the unit's DevicePolicy=, which lets
      // us open no device.
      return exports::cdi(health, nodes_of(options.root),
                          std::filesystem::exists(kConnectionManager, error));
    case ExportFormat::NodeFeatures:
      return exports::node_features(health, Moment::now(), kLabelLifetime);
    case ExportFormat::Guestinfo:
      return exports::guestinfo(health, this_boot(1)) + "\n";
  }
  return std::nullopt;
}

// An agent that was just started knows no adapters yet: this does not mean that there are none.
bool knows_nothing(const Health& health) {
  return health.state == State::Unknown && health.adapters.empty();
}

int write_text(const Settings& settings, const Console& console, const ExportOptions& options,
               const Health& health) {
  if (knows_nothing(health)) return end_without(settings, console, printable(health.summary));
  const auto written = put(console, options.output, text_of(health, options));
  return written ? 0 : end_without(settings, console, written.error());
}

int keep_file(const Settings& settings, const Console& console, const ExportOptions& options) {
  return keep_up(settings, options.pace, [&](const HealthResult& news) {
    if (!news || knows_nothing(news->value)) return 0;
    return write_text(settings, console, options, news->value);
  });
}

// The error text of a program of open-vm-tools; none: the program succeeded.
std::optional<std::string> trouble_of(std::vector<std::string> words, Milliseconds within) {
  const std::string name = words.front();
  const auto result =
      run_program({.words = std::move(words), .environment = {}, .timeout = within});
  if (!result) return result.error().message();
  if (result->ended == Ended::Exited && result->status == 0) return std::nullopt;
  if (result->ended == Ended::TimedOut)
    return formatted("{}: no answer within {} s", name, in_seconds(within));
  return formatted("{}: status {}: {}", name, result->status, first_line(result->output));
}

// vmware-rpctool fails while vmtoolsd holds the channel (open-vm-tools issue 690).
Result<void> hand_over(const std::string& text, Milliseconds within) {
  const std::string request = formatted("info-set {} {}", kGuestinfoKey, text);
  const auto by_rpctool = trouble_of({"vmware-rpctool", request}, within);
  if (!by_rpctool) return {};
  const auto by_tools = trouble_of({"vmtoolsd", "--cmd", request}, within);
  if (!by_tools) return {};
  return fail(0, "publishing " + std::string{kGuestinfoKey}, *by_rpctool + "; " + *by_tools);
}

// Hands the verdict to the host, and remembers what the host has.
class Publisher {
 public:
  explicit Publisher(const ExportOptions& options) : options_{options} {}

  // Does nothing where the host has this verdict already and the heartbeat is not due. Where the
  // agent does not answer, the host is told that, as Prometheus is. An Error has the answer of each
  // program.
  [[nodiscard]] Result<void> publish(const HealthResult& news) {
    const Health health = news ? news->value : unknown_health(news.error()).value;
    const std::string essence = exports::guestinfo(health, {});
    const BootTime now = BootClock::now();
    if (published_at_ && essence == published_ && now - *published_at_ < options_.heartbeat)
      return {};
    auto handed =
        hand_over(exports::guestinfo(health, this_boot(count_ + 1)), options_.tool_within);
    if (!handed) return handed;
    ++count_;
    published_ = essence;
    published_at_ = now;
    return {};
  }

 private:
  const ExportOptions& options_;
  std::uint64_t count_ = 0;
  std::string published_;  // without counter and time
  std::optional<BootTime> published_at_;
};

int keep_published(const Settings& settings, const Console& console, const ExportOptions& options) {
  Publisher publisher{options};
  std::string told;  // the last complaint: the same complaint is not repeated
  return keep_up(settings, options.pace, [&](const HealthResult& news) {
    const auto published = publisher.publish(news);
    const std::string trouble = published ? "" : printable(published.error().message());
    if (!trouble.empty() && trouble != told) console.complain(trouble);
    told = trouble;
    return 0;
  });
}

int publish_once(const Settings& settings, const Console& console, const ExportOptions& options) {
  const auto answer = ask_health(settings.socket, settings.answer_within);
  if (const auto published = Publisher{options}.publish(answer); !published)
    return end_without(settings, console, published.error());
  if (!answer) return end_without(settings, console, answer.error());
  if (knows_nothing(answer->value))
    return end_without(settings, console, printable(answer->value.summary));
  return 0;
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
