// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/peer/earlier.hpp"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "agent/base/clock.hpp"
#include "agent/base/file.hpp"
#include "agent/ctl/json_text.hpp"
#include "agent/varlink/message.hpp"

namespace pvrdma::verify {

namespace {

using nlohmann::json;

json read_runs(const std::filesystem::path& file) {
  return read_file(file).and_then(varlink::parse_object).value_or(json::object());
}

// "2026-11-21T02:31:43Z"; empty: the peer has no run with a time.
std::string time_of_newest(const json& runs) {
  if (!runs.is_array() || runs.empty() || !runs.back().is_object()) return {};
  const auto at = runs.back().find("at");
  return at != runs.back().end() && at->is_string() ? at->get<std::string>() : "";
}

}  // namespace

std::filesystem::path state_file() {
  const auto folder = [](const char* variable) {
    const char* value = std::getenv(variable);
    return std::filesystem::path{value != nullptr && *value == '/' ? value : ""};
  };
  std::filesystem::path base = folder("XDG_STATE_HOME");
  if (base.empty() && !folder("HOME").empty()) base = folder("HOME") / ".local/state";
  return base.empty() ? base : base / "pvrdma-agent/verify.json";
}

std::optional<double> best_earlier(const std::filesystem::path& file, const std::string& peer) {
  const json runs = read_runs(file);
  const auto of = runs.find(peer);
  if (of == runs.end() || !of->is_array()) return std::nullopt;
  std::optional<double> best;
  for (const json& run : *of) {
    const auto bandwidth = run.find("bandwidth_mb_s");
    if (bandwidth != run.end() && bandwidth->is_number())
      best = std::max(best.value_or(0), bandwidth->get<double>());
  }
  return best;
}

Result<void> remember(const std::filesystem::path& file, const std::string& peer,
                      double bandwidth_mb_s, double latency_us) {
  if (auto made = make_directories(file.parent_path()); !made) return made;
  json runs = read_runs(file);
  if (!runs.contains(peer) && runs.size() >= kPeersKept)
    runs.erase(std::min_element(runs.begin(), runs.end(), [](const json& one, const json& other) {
      return time_of_newest(one) < time_of_newest(other);
    }));
  json& of = runs[peer];
  if (!of.is_array()) of = json::array();
  of.push_back({{"at", wall_time(BootClock::now())},
                {"bandwidth_mb_s", bandwidth_mb_s},
                {"latency_us", latency_us}});
  if (of.size() > kRunsKept) of.erase(of.begin());
  return replace_file(file, ctl::dumped(runs, 1) + "\n", 0600);
}

}  // namespace pvrdma::verify
