// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/metrics/rendering.hpp"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "agent/base/format.hpp"

namespace pvrdma::metrics {

namespace {

using Json = nlohmann::json;

const char* word(Type type) { return type == Type::Counter ? "counter" : "gauge"; }

std::string escaped(const std::string& value) {
  std::string result;
  for (const char letter : value) {
    if (letter == '\\' || letter == '"') result += '\\';
    if (letter == '\n')
      result += "\\n";
    else
      result += letter;
  }
  return result;
}

// {device="rocep19s0f1",port="1"}
std::string label_set(const Labels& labels) {
  std::string result;
  for (const auto& [name, value] : labels) {
    if (value.empty()) continue;
    result += result.empty() ? "{" : ",";
    result += std::string{name} + "=\"" + escaped(value) + "\"";
  }
  return result.empty() ? result : result + "}";
}

// The shortest text that reads back as the same value.
std::string number(double value) { return formatted("{}", value); }

// The family's samples, without those whose labels an earlier one has.
Samples distinct_samples(const Family& family, const Observation& observation) {
  std::set<std::string> seen;
  Samples samples;
  for (Sample& sample : family.generate(observation))
    if (seen.insert(label_set(sample.labels)).second) samples.push_back(std::move(sample));
  return samples;
}

Json labels_of(const Sample& sample) {
  Json labels = Json::object();
  for (const auto& [name, value] : sample.labels)
    if (!value.empty()) labels[name] = value;
  return labels;
}

std::string report_name(const Family& family) {
  constexpr std::string_view kPrefix = "pvrdma_";
  return std::string{kReportName} + "." + (family.name + kPrefix.size());
}

// A number without a fraction, such as a counter, is an integer in JSON too.
Json report_value(double value) {
  constexpr double kExactBelow = 1LL << 53;
  const bool whole = std::abs(value) < kExactBelow && std::trunc(value) == value;
  return whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

}  // namespace

std::string prometheus_text(const Observation& observation) {
  std::string text;
  for (const Family& family : families()) {
    std::string lines;
    for (const Sample& sample : distinct_samples(family, observation))
      lines += family.name + label_set(sample.labels) + " " + number(sample.value) + "\n";
    if (lines.empty()) continue;
    const std::string name{family.name};
    text += "# HELP " + name + " " + family.description + "\n# TYPE " + name + " " +
            word(family.type) + "\n" + lines;
  }
  return text;
}

Json to_json(const Observation& observation) {
  Json list = Json::array();
  for (const Family& family : families()) {
    Json samples = Json::array();
    for (const Sample& sample : distinct_samples(family, observation))
      samples.push_back({{"labels", labels_of(sample)}, {"value", sample.value}});
    list.push_back({{"name", family.name},
                    {"description", family.description},
                    {"type", word(family.type)},
                    {"samples", std::move(samples)}});
  }
  return {{"metrics", std::move(list)}};
}

std::vector<Json> report_samples(const Observation& observation) {
  std::vector<Json> replies;
  for (const Family& family : families()) {
    for (const Sample& sample : distinct_samples(family, observation)) {
      Json fields = labels_of(sample);
      Json reply{{"name", report_name(family)}, {"value", report_value(sample.value)}};
      if (const auto function = fields.find("function"); function != fields.end()) {
        reply["object"] = *function;
        fields.erase(function);
      }
      if (!fields.empty()) reply["fields"] = std::move(fields);
      replies.push_back(std::move(reply));
    }
  }
  return replies;
}

std::vector<Json> report_families() {
  std::vector<Json> replies;
  for (const Family& family : families())
    replies.push_back({{"name", report_name(family)},
                       {"description", family.description},
                       {"type", word(family.type)}});
  return replies;
}

}  // namespace pvrdma::metrics
