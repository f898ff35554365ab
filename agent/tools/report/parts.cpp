// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/report/parts.hpp"

#include <nlohmann/json.hpp>

#include "agent/base/program.hpp"
#include "agent/base/text.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/ctl/text.hpp"

namespace pvrdma::ctl {

namespace {

constexpr std::size_t kComplaintColumns = 300;
constexpr std::size_t kBytesAtMost = std::size_t{1} << 20U;
constexpr int kDepthAtMost = 32;  // nested objects and arrays

// The lines of the JSON object, and the lines around it.
struct Said {
  std::string object;
  std::string complaint;  // the first line around the object
};

Said separate(std::string_view output) {
  Said said;
  bool inside = false;
  while (!output.empty()) {
    const std::string_view line = cut(output, '\n');
    if (said.object.empty() && line == "{") inside = true;
    if (inside)
      said.object.append(line) += '\n';
    else if (said.complaint.empty())
      said.complaint = shortened(printable(line), kComplaintColumns);
    if (line == "}") inside = false;
  }
  return said;
}

// Discarded: the text is no JSON, or nests deeper than dumped() should follow.
Json parse(const std::string& text) {
  bool is_deep = false;
  const auto bounded = [&](int depth, Json::parse_event_t, Json&) {
    is_deep = is_deep || depth > kDepthAtMost;
    return depth <= kDepthAtMost;
  };
  Json value = Json::parse(text, bounded, /*allow_exceptions=*/false);
  return is_deep ? Json(Json::value_t::discarded) : value;
}

std::string how_it_ended(const ProgramResult& result) {
  switch (result.ended) {
    case Ended::Exited:
      return "exit status " + std::to_string(result.status);
    case Ended::Signalled:
      return "ended by signal " + std::to_string(result.status);
    case Ended::TimedOut:
      return "not done in its time";
    case Ended::Flooded:
      break;
  }
  return "more than " + std::to_string(kBytesAtMost) + " bytes";
}

}  // namespace

Result<Json> run_part(const std::vector<std::string>& words, Milliseconds limit) {
  Program program;
  program.words = words;
  program.timeout = limit;
  program.output_limit_bytes = kBytesAtMost;
  program.end_signal = SIGTERM;  // it may wait for a device
  const auto result = run_program(program);
  if (!result) return fail(result.error());
  const Said said = separate(result->output);
  if (result->ended == Ended::Exited) {
    Json value = parse(said.object);
    if (const auto error = value.is_object() ? value.find("error") : value.end();
        value.size() == 1 && error != value.end() && error->is_object())
      return fail(0, how_it_ended(*result) + ", " + text(*error, "message").value_or("no reason"),
                  "");
    if (value.is_object()) return value;
  }
  return fail(0, how_it_ended(*result) + (said.complaint.empty() ? "" : ", " + said.complaint), "");
}

}  // namespace pvrdma::ctl
