// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/survey/host_lines.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/tools/survey/host_cells.hpp"
#include "agent/tools/survey/host_text.hpp"

namespace pvrdma {

namespace {

constexpr std::size_t kLongestPrompt = 64;
// A line of esxcli has at most some 300 columns, and a terminal at least 40.
constexpr std::size_t kMostPieces = 8;
constexpr std::size_t kWidestTerminal = 500;
constexpr std::size_t kGap = 2;  // blanks between columns

constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

// The place where `name` begins in `line` as a word of its own; npos: nowhere.
std::size_t find_program(std::string_view line, std::string_view name) {
  for (std::size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1))
    if (at == 0 || !is_alphanumeric(line[at - 1])) return at;
  return std::string_view::npos;
}

// The host in "root@esx01:~"; empty: there is none.
std::string host_in(std::string_view prompt) {
  const std::size_t at = prompt.find('@');
  const std::size_t end = prompt.find(':', at);
  if (at == std::string_view::npos || end == std::string_view::npos) return {};
  return std::string{prompt.substr(at + 1, end - at - 1)};
}

// The host in "ssh -l root esx01 '", the text before a program; empty: it names none.
std::string host_behind_ssh(std::string_view before) {
  before = before.substr(0, before.find_last_not_of(" \t'\"") + 1);
  const auto words = split_at_blanks(before);
  if (words.empty()) return {};
  std::string_view host = words.back();
  host.remove_prefix(host.rfind('@') + 1);  // npos + 1 is 0
  const bool is_name = !host.empty() && is_alphanumeric(host.front()) &&
                       std::all_of(host.begin(), host.end(), [](char c) {
                         return is_alphanumeric(c) || c == '.' || c == '-' || c == ':';
                       });
  return is_name ? std::string{host} : std::string{};
}

// "[root@esx01:~]", "[root@esx01:~] #", "root@esx01:~#", "~ #", "PS C:\>". A sign alone is none: a
// heading and a comment begin with it. Empty: the line has no prompt.
std::string_view prompt_of(std::string_view line) {
  const auto until = [&](std::size_t sign) {
    const bool ends = sign < line.size() && (sign + 1 == line.size() || line[sign + 1] == ' ');
    return ends ? line.substr(0, sign + 1) : std::string_view{};
  };
  if (line.starts_with('[')) {
    const std::size_t end = line.find(']');
    // "[ConnectX-5]" is the end of a description.
    const bool names_user =
        line.substr(0, end).find_first_of("@:") < end || line.starts_with("[root");
    if (end == std::string_view::npos || !names_user) return {};
    const std::size_t sign = line.find_first_not_of(' ', end + 1);
    const bool has_sign = sign < line.size() && (line[sign] == '#' || line[sign] == '$');
    return has_sign && !until(sign).empty() ? until(sign) : line.substr(0, end + 1);
  }
  const std::string_view prompt = until(std::min(line.find_first_of("#$>"), kLongestPrompt));
  if (prompt.size() < 2) return {};
  const std::string_view name = trimmed(prompt.substr(0, prompt.size() - 1));
  const bool is_name = name.starts_with("PS ") || name.find(' ') == std::string_view::npos;
  const bool is_place = name.find_first_of("~/@\\") != std::string_view::npos;
  return is_name && is_place ? prompt : std::string_view{};
}

// A table whose lines a terminal broke: `pieces` lines of dashes at `rule`, and the names of its
// columns in the lines from `first` on.
struct BrokenTable {
  std::size_t first = 0;
  std::size_t rule = 0;
  std::size_t pieces = 0;
  std::size_t width = 0;  // of the terminal, in columns
};

class Joiner {
 public:
  explicit Joiner(std::vector<PastedLine> lines) : lines_{std::move(lines)} {}

  std::vector<PastedLine> join() {
    for (std::size_t at = 0; at < lines_.size();) {
      const std::size_t rule = is_rule(lines_[at].text) ? pieces_of_rule(at) : 0;
      if (rule >= 2 && rule <= kMostPieces)
        at = join_table({0, at, rule, 0});
      else
        joined_.push_back(std::move(lines_[at++]));
    }
    return std::move(joined_);
  }

 private:
  [[nodiscard]] std::size_t pieces_of_rule(std::size_t at) const {
    std::size_t end = at;
    while (end < lines_.size() && end - at <= kMostPieces && !lines_[end].text.empty() &&
           lines_[end].text.find_first_not_of("- ") == std::string::npos)
      ++end;
    return end - at;
  }

  [[nodiscard]] bool ends_table(std::size_t at) const {
    return at >= lines_.size() || lines_[at].text.empty() || is_rule(lines_[at].text) ||
           command_in(lines_[at].text).has_value();
  }

  // The pieces, all but the last filled up to the width.
  [[nodiscard]] static std::string joined(const std::vector<PastedLine>& lines, std::size_t first,
                                          std::size_t count, std::size_t width) {
    std::string text;
    for (std::size_t piece = 0; piece < count; ++piece) {
      text.resize(piece * width, ' ');
      text += lines[first + piece].text;
    }
    return text;
  }

  // The longest line of the table: of all its lines one reaches the terminal's edge, unless there
  // is a gap between columns, whose blanks a terminal need not copy.
  [[nodiscard]] std::size_t width_of(std::size_t first_row, std::size_t names) const {
    std::size_t width = 0;
    const auto take = [&](const PastedLine& line) { width = std::max(width, line.text.size()); };
    std::for_each(joined_.end() - static_cast<std::ptrdiff_t>(names), joined_.end(), take);
    for (std::size_t at = first_row; !ends_table(at); ++at) take(lines_[at]);
    return width;
  }

  // Whether the lines, joined so, name each column. esxcli's column names contain no two blanks in
  // a row, and begin with a capital next to a small letter.
  [[nodiscard]] bool has_names(const BrokenTable& table, std::size_t names,
                               const std::vector<std::size_t>& starts) const {
    const auto columns = sliced(joined(joined_, table.first, names, table.width), starts);
    if (!columns || columns->size() != starts.size()) return false;
    for (const std::string& column : *columns)
      if (column.empty() || has_part(column, "  ")) return false;
    for (std::size_t piece = table.first; piece + 1 < joined_.size(); ++piece) {
      const std::string& end = joined_[piece].text;
      const std::string& next = joined_[piece + 1].text;
      const bool is_name = next.size() > 1 && is_upper(next[0]) &&
                           (is_lower(next[1]) || (!end.empty() && is_lower(end.back())));
      if (is_name && end.size() == table.width) return false;
    }
    return true;
  }

  // Appends the joined lines, and returns the number of the next line.
  std::size_t join_table(BrokenTable table) {
    const std::size_t first_row = table.rule + table.pieces;
    std::size_t rule_width = 0;
    for (std::size_t at = table.rule; at < first_row; ++at)
      rule_width = std::max(rule_width, lines_[at].text.size());
    for (std::size_t names = std::min(table.pieces, joined_.size()); names >= 1; --names) {
      table.first = joined_.size() - names;
      const std::size_t longest = std::max(rule_width, width_of(first_row, names));
      if (longest > kWidestTerminal) continue;
      for (table.width = longest; table.width <= longest + kGap; table.width += kGap) {
        const std::string rule = joined(lines_, table.rule, table.pieces, table.width);
        const auto starts = column_starts(rule);
        if (!has_names(table, names, starts)) continue;
        joined_[table.first].text = joined(joined_, table.first, names, table.width);
        joined_.resize(table.first + 1);
        joined_.push_back({lines_[table.rule].number, rule});
        return join_rows(table, starts);
      }
    }
    for (std::size_t at = table.rule; at < first_row; ++at)
      joined_.push_back(std::move(lines_[at]));
    return first_row;
  }

  // Whether this single line has text in three columns; a piece of another row rarely has.
  [[nodiscard]] bool is_row(std::size_t at, const std::vector<std::size_t>& starts) const {
    const std::string& text = lines_[at].text;
    if (text.size() <= starts.front() || is_blank(text[starts.front()])) return false;
    const auto cells = sliced(text, starts);
    return cells && cells->size() >= std::min<std::size_t>(3, starts.size()) &&
           !(*cells)[1].empty();
  }

  std::size_t join_rows(const BrokenTable& table, const std::vector<std::size_t>& starts) {
    std::size_t at = table.rule + table.pieces;
    while (!ends_table(at)) {
      std::size_t count = 1;
      while (count < table.pieces && !ends_table(at + count) && !is_row(at + count, starts))
        ++count;
      joined_.push_back({lines_[at].number, joined(lines_, at, count, table.width)});
      at += count;
    }
    return at;
  }

  std::vector<PastedLine> lines_;
  std::vector<PastedLine> joined_;  // those before the line that is looked at
};

// True where nearly each line with text is followed by a blank one.
bool is_double_spaced(const std::vector<PastedLine>& lines) {
  std::size_t texts = 0;
  std::size_t followed = 0;
  for (std::size_t at = 0; at + 1 < lines.size(); ++at) {
    if (lines[at].text.empty()) continue;
    ++texts;
    if (lines[at + 1].text.empty()) ++followed;
  }
  return texts >= 4 && followed * 10 >= texts * 9;
}

}  // namespace

std::optional<PastedCommand> command_in(std::string_view line) {
  constexpr std::array kPrograms{"esxcli ", "localcli ", "vsish ", "esxcfg-"};
  PastedCommand command;
  line = trimmed(line);
  if (const std::string_view prompt = prompt_of(line); !prompt.empty()) {
    command.at_prompt = true;
    command.host = host_in(prompt);
    line = trimmed(line.substr(prompt.size()));
  }
  for (const char* program : kPrograms)
    if (const std::size_t at = find_program(line, program); at != std::string_view::npos) {
      const std::string_view before = line.substr(0, at);
      if (find_program(before, "ssh") != std::string_view::npos)
        command.host = host_behind_ssh(before);
      command.text = line.substr(at);
      return command;
    }
  command.text = line;
  if (command.at_prompt || line.find("pvrdmaDevices/") != std::string_view::npos) return command;
  return std::nullopt;
}

std::vector<PastedLine> pasted_lines(std::string_view pasted) {
  const std::string printed = as_printed(pasted);
  std::string_view text = printed;
  std::vector<PastedLine> lines;
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
    lines.push_back({lines.size() + 1, std::string{line}});
  }
  if (is_double_spaced(lines))
    std::erase_if(lines, [](const PastedLine& line) { return line.text.empty(); });
  return Joiner{std::move(lines)}.join();
}

std::string word_after(std::string_view command, std::string_view name) {
  const std::size_t at = command.find(name);
  if (at == std::string_view::npos) return {};
  command.remove_prefix(at + name.size());
  return std::string{command.substr(0, command.find_first_of(" /\""))};
}

}  // namespace pvrdma
