// SPDX-License-Identifier: GPL-2.0-or-later
// A self-test's report as text and as JSON: render() and to_json() of report.hpp.
#include <nlohmann/json.hpp>
#include <system_error>

#include "agent/base/format.hpp"
#include "agent/base/text.hpp"
#include "agent/ctl/json_text.hpp"
#include "agent/tools/verify/selftest/report.hpp"

namespace pvrdma::ctl::selftest {

namespace {

constexpr std::size_t kLabelWidth = 16;  // "  locked memory "

bool is_done(const Report& report, Step step) { return contains(report.done, step); }

double microseconds(Nanoseconds time) { return static_cast<double>(time.count()) / 1000; }

std::string us(Nanoseconds time) { return formatted("{:.1f} µs", microseconds(time)); }

// "port 1 …: it is DOWN: Network is down"
std::string reason(const StepFailure& failure) {
  std::string text = failure.what;
  if (failure.code != 0)
    text += (text.empty() ? "" : ": ") + std::generic_category().message(failure.code);
  return text;
}

std::string verdict(const Report& report, const Style& style) {
  const std::string name = printable(report.device) + ": ";
  if (report.passed)
    return name + painted("passed", Colour::Green, style) + ", in " + span(report.took) + "\n";
  const StepFailure& failure = report.failure.value();
  std::string text = name + painted("failed", Colour::Red, style);
  if (failure.step) text += std::string{" at "} + words_of(*failure.step).doing;
  return text + ": " + printable(reason(failure)) + "\n";
}

std::string steps_done(const Report& report) {
  std::vector<std::string> words;
  for (const Step step : report.done) words.emplace_back(words_of(step).doing);
  return joined(words);
}

std::string bytes(std::uint64_t number) {
  constexpr std::uint64_t kKiB = 1024;
  return number >= kKiB && number % kKiB == 0 ? std::to_string(number / kKiB) + " KiB"
                                              : std::to_string(number) + " bytes";
}

std::string operations(const Report& report, const Style& style) {
  std::string out;
  if (is_done(report, Step::Message))
    out += row("send/receive", bytes(kMessageBytes) + " there and back, data as sent", kLabelWidth,
               style);
  if (report.write)
    out += row("RDMA write",
               report.write->proved ? bytes(kMessageBytes) + ", data as written"
                                    : "not offered by this device: " + report.write->why_not,
               kLabelWidth, style);
  if (report.latency)
    out += row("round trip",
               "median " + us(report.latency->median) + ", p99 " + us(report.latency->p99) +
                   ", max " + us(report.latency->max) + " (" + std::to_string(kRounds) +
                   " rounds of " + bytes(kRoundBytes) + ", data as sent)",
               kLabelWidth, style);
  return out;
}

Json gid_json(const Report& report) {
  if (!report.gid) return {};
  return {{"index", report.gid->index},
          {"gid", report.gid->gid},
          {"type", or_null(report.gid->type.value_or(""))}};
}

Json failure_json(const Report& report) {
  if (!report.failure) return {};
  const StepFailure& failure = *report.failure;
  const Advice advice = advice_for(report);
  return {{"step", failure.step ? Json(words_of(*failure.step).id) : Json{}},
          {"errno", failure.code},
          {"status", failure.status},
          {"message", reason(failure)},
          {"who", advice.who},
          {"remedy", advice.remedy}};
}

Json write_json(const Report& report) {
  if (!report.write) return {};
  return {{"offered", report.write->proved}, {"why_not", or_null(report.write->why_not)}};
}

Json latency_json(const Report& report) {
  if (!report.latency) return {};
  return {{"rounds", kRounds},
          {"bytes", kRoundBytes},
          {"median_us", microseconds(report.latency->median)},
          {"p99_us", microseconds(report.latency->p99)},
          {"max_us", microseconds(report.latency->max)}};
}

Json one_json(const Report& report) {
  Json steps = Json::array();
  for (const Step step : report.done) steps.push_back(words_of(step).id);
  return {{"device", report.device},
          {"passed", report.passed},
          {"took_ms", report.took.count()},
          {"gid", gid_json(report)},
          {"steps", std::move(steps)},
          {"send_receive", is_done(report, Step::Message)},
          {"rdma_write", write_json(report)},
          {"latency", latency_json(report)},
          {"memlock_bytes", report.memlock_bytes ? Json(*report.memlock_bytes) : Json{}},
          {"failure", failure_json(report)},
          {"remarks", report.remarks}};
}

}  // namespace

std::string render(const Report& report, const Style& style) {
  std::string out = verdict(report, style);
  if (report.gid)
    out += row("GID",
               "index " + std::to_string(report.gid->index) + ", " + report.gid->gid + ", " +
                   report.gid->type.value_or("of unknown type"),
               kLabelWidth, style);
  out += operations(report, style);
  if (report.memlock_bytes)
    out += row("locked memory", "at most " + bytes(*report.memlock_bytes) + " for this process",
               kLabelWidth, style);
  if (report.passed) return out;
  if (!report.done.empty()) out += row("done", steps_done(report), kLabelWidth, style);
  const Advice advice = advice_for(report);
  out += row(advice.who, advice.remedy, kLabelWidth, style);
  for (const std::string& remark : report.remarks) out += row("said", remark, kLabelWidth, style);
  return out;
}

Json to_json(const std::vector<Report>& reports) {
  Json devices = Json::array();
  for (const Report& report : reports) devices.push_back(one_json(report));
  return {{"version", 1}, {"devices", std::move(devices)}};
}

}  // namespace pvrdma::ctl::selftest
