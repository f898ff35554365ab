#include "agent/tools/metrics/rendering.hpp"

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

namespace pvrdma::metrics {

namespace {

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

// The shortest that is read as the same value.
std::string number(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

}  // namespace

std::string prometheus_text(const Observation& observation) {
  std::string text;
  for (const Family& family : families()) {
    std::set<std::string> seen;
    std::string lines;
    for (const Sample& sample : family.generate(observation)) {
      const std::string labels = label_set(sample.labels);
      if (seen.insert(labels).second)
        lines += family.name + labels + " " + number(sample.value) + "\n";
    }
    if (lines.empty()) continue;
    const std::string name{family.name};
    text += "# HELP " + name + " " + family.description + "\n# TYPE " + name + " " +
            word(family.type) + "\n" + lines;
  }
  return text;
}

nlohmann::json to_json(const Observation& observation) {
  using Json = nlohmann::json;
  Json list = Json::array();
  for (const Family& family : families()) {
    Json samples = Json::array();
    for (const Sample& sample : family.generate(observation)) {
      Json labels = Json::object();
      for (const auto& [name, value] : sample.labels)
        if (!value.empty()) labels[name] = value;
      samples.push_back({{"labels", std::move(labels)}, {"value", sample.value}});
    }
    list.push_back({{"name", family.name},
                    {"description", family.description},
                    {"type", word(family.type)},
                    {"samples", std::move(samples)}});
  }
  return {{"metrics", std::move(list)}};
}

}  // namespace pvrdma::metrics
