// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/survey/host_cells.hpp"

#include <algorithm>
#include <array>

#include "agent/base/text.hpp"

namespace pvrdma {

namespace {

constexpr std::size_t kLongestKey = 64;

// Splits at tabs and at two or more blanks, for tables whose columns a browser or mail program
// moved.
Cells split(std::string_view line) {
  Cells cells;
  while (!line.empty()) {
    const std::size_t end = std::min({line.find('\t'), line.find("  "), line.size()});
    cells.emplace_back(trimmed(line.substr(0, end)));
    const std::size_t next = line.find_first_not_of(" \t", end);
    line.remove_prefix(std::min(next, line.size()));
  }
  return cells;
}

}  // namespace

bool is_rule(std::string_view line) {
  return line.find("--") != std::string_view::npos &&
         line.find_first_not_of("- \t") == std::string_view::npos;
}

std::vector<std::size_t> column_starts(std::string_view rule) {
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < rule.size(); ++at)
    if (rule[at] == '-' && (at == 0 || rule[at - 1] != '-')) starts.push_back(at);
  return starts;
}

std::optional<Cells> sliced(std::string_view line, const std::vector<std::size_t>& starts) {
  Cells cells;
  for (std::size_t index = 0; index < starts.size() && starts[index] < line.size(); ++index) {
    const std::size_t begin = starts[index];
    const std::size_t end = index + 1 < starts.size() ? starts[index + 1] : line.size();
    if (begin > 0 && !is_blank(line[begin - 1])) return std::nullopt;
    cells.emplace_back(trimmed(line.substr(begin, end - begin)));
  }
  return cells;
}

std::optional<std::pair<std::string, std::string>> key_and_value(std::string_view line) {
  line = trimmed(line);
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon > kLongestKey) return std::nullopt;
  const std::string_view key = trimmed(line.substr(0, colon));
  const bool is_word = is_alphanumeric(key.front()) && !is_digit(key.front());
  if (!is_word || key.find("  ") != std::string_view::npos) return std::nullopt;
  return std::pair{std::string{key}, std::string{trimmed(line.substr(colon + 1))}};
}

std::optional<Cells> cells_of(std::string_view line, const std::vector<std::size_t>& starts) {
  if (line.find('\t') == std::string_view::npos)
    if (auto cells = sliced(line, starts)) return cells;
  auto cells = split(line);
  return cells.size() == starts.size() ? std::optional{std::move(cells)} : std::nullopt;
}

std::vector<std::size_t> nic_columns(std::string_view line) {
  constexpr std::array kNames{"Name",   "PCI",         "Driver", "Link",       "Speed",
                              "Duplex", "MAC Address", "MTU",    "Description"};
  std::vector<std::size_t> starts;
  for (const char* name : kNames) {
    const std::size_t at = line.find(name, starts.empty() ? 0 : starts.back() + 1);
    if (at == std::string_view::npos) return {};
    starts.push_back(at);
  }
  return starts;
}

Cells csv_cells(std::string_view line) {
  Cells cells(1);
  bool is_quoted = false;
  for (const char letter : line) {
    if (letter == '"')
      is_quoted = !is_quoted;
    else if (letter == ',' && !is_quoted)
      cells.emplace_back();
    else
      cells.back() += letter;
  }
  if (cells.back().empty()) cells.pop_back();
  return cells;
}

// The names of CSV's columns are single words.
bool is_csv_header(std::string_view line) {
  if (!line.ends_with(',') || line.find_first_of(" :\"\t") != std::string_view::npos) return false;
  const Cells names = csv_cells(line);
  return names.size() > 1 && names.size() <= kMostColumns &&
         std::all_of(names.begin(), names.end(), [](const std::string& name) {
           return !name.empty() && is_alphanumeric(name.front());
         });
}

std::optional<PastedRow> row_in(std::string_view line) {
  Cells words;
  for (const std::string_view word : split_at_blanks(line.substr(0, 200))) words.emplace_back(word);
  if (words.size() >= 2 && words[0] == "pvrdma" && (words[1] == "true" || words[1] == "false"))
    return PastedRow{{"Name", "Enabled"}, {words[0], words[1]}};
  if (words.size() == 6 && words[0] == "pvrdma" && words[1].ends_with("bound"))
    return PastedRow{{"Ruleset", "Direction", "Protocol", "Port Type", "Port Begin", "Port End"},
                     words};
  if (words.size() >= 4 && words[1] == "enabled" && words[2] == "=")
    return PastedRow{{"Name", "Is Enabled", "Options"},
                     {words[0], words[3] == "0" ? "false" : "true", std::string{line}}};
  if (words.size() >= 4 && words[0] == "Value" && words[2] == "PVRDMAVmknic" && words[3] == "is")
    return PastedRow{{"Path", "String Value"},
                     {"/Net/PVRDMAVmknic", words.size() > 4 ? words[4] : std::string{}}};
  return std::nullopt;
}

}  // namespace pvrdma
