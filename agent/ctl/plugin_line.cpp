// One line for a monitor: its rules are those of the Nagios family.
#include <algorithm>
#include <array>
#include <chrono>

#include "agent/base/format.hpp"
#include "agent/base/text.hpp"
#include "agent/ctl/rendering.hpp"

namespace pvrdma::ctl {

namespace {

std::string status_line(int code, const std::string& text) {
  constexpr std::array<const char*, 4> kWords{"OK", "WARNING", "CRITICAL", "UNKNOWN"};
  std::string shown = printable(text);
  std::replace(shown.begin(), shown.end(), '|', '/');  // it would begin the numbers
  return formatted("PVRDMA {} - {}", kWords.at(static_cast<std::size_t>(code)), shown);
}

// Thresholds as the verdict has them: fewer ready than there are is a warning, none is critical.
std::string numbers(const Health& health, BootTime now) {
  const std::size_t all = health.adapters.size();
  const auto ready =
      std::count_if(health.adapters.begin(), health.adapters.end(),
                    [](const AdapterHealth& adapter) { return adapter.state == State::Ready; });
  const auto seconds_since = [&](BootTime time) {
    return std::max<std::int64_t>(std::chrono::floor<std::chrono::seconds>(now - time).count(), 0);
  };
  return formatted(
      "adapters={};;;0 ready={};{}:;{}:;0;{} reloads={}c rebinds={}c in_state={}s;;;0 age={}s;;;0",
      all, ready, all, std::min<std::size_t>(all, 1), all, health.reloads, health.rebinds,
      seconds_since(health.since), seconds_since(health.observed));
}

}  // namespace

std::string plugin_line(const Health& health, BootTime now) {
  const Finding* worst = worst_finding(health);
  std::string text = health.summary;
  // A verdict names a finding already, where there is only one.
  if (worst != nullptr && worst->severity != Severity::Info &&
      text.find(worst->summary) == std::string::npos)
    text += "; " + worst->summary;
  return status_line(exit_code(health.state), text) + " | " + numbers(health, now) + "\n";
}

std::string plugin_line(const std::string& why) {
  return status_line(exit_code(State::Unknown), why) + "\n";
}

}  // namespace pvrdma::ctl
