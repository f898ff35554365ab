// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/survey/host_paste.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "agent/base/file.hpp"
#include "agent/base/handle.hpp"
#include "agent/base/text.hpp"

namespace pvrdma {

namespace {

constexpr std::size_t kLongestKey = 64;
// Limits the entries of one block, so that the time for a hostile text grows only with its length.
constexpr std::size_t kMostEntries = 200;

constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool is_rule(std::string_view line) {
  return line.find("--") != std::string_view::npos &&
         line.find_first_not_of("- \t") == std::string_view::npos;
}

bool is_brace(std::string_view line) { return line.ends_with('{') || trimmed(line) == "}"; }

std::optional<std::pair<std::string, std::string>> key_and_value(std::string_view line) {
  line = trimmed(line);
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon > kLongestKey) return std::nullopt;
  const std::string_view key = trimmed(line.substr(0, colon));
  const bool is_word = is_alphanumeric(key.front()) && !is_digit(key.front());
  if (!is_word || key.find("  ") != std::string_view::npos) return std::nullopt;
  return std::pair{std::string{key}, std::string{trimmed(line.substr(colon + 1))}};
}

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

// Reads "[root@esx01:~] esxcli rdma device list", "~ # esxcli …", "Output of \"localcli …\":", and
// commands typed at vsish's own prompt.
std::optional<PastedCommand> command_in(std::string_view line) {
  constexpr std::array kPrograms{"esxcli ", "localcli ", "vsish "};
  PastedCommand command;
  line = trimmed(line);
  if (line.starts_with('[')) {
    const std::size_t end = line.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    command.at_prompt = true;
    command.host = host_in(line.substr(1, end - 1));
    line = trimmed(line.substr(end + 1));
  }
  for (const char* program : kPrograms)
    if (const std::size_t at = find_program(line, program); at != std::string_view::npos) {
      command.text = line.substr(at);
      return command;
    }
  command.text = line;
  if (command.at_prompt || line.find("pvrdmaDevices/") != std::string_view::npos) return command;
  return std::nullopt;
}

// The first byte of each group of dashes.
std::vector<std::size_t> column_starts(std::string_view rule) {
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < rule.size(); ++at)
    if (rule[at] == '-' && (at == 0 || rule[at - 1] != '-')) starts.push_back(at);
  return starts;
}

// The cells of a line, up to the last one with text. None: a cell reaches into the next column.
std::optional<std::vector<std::string>> sliced(std::string_view line,
                                               const std::vector<std::size_t>& starts) {
  std::vector<std::string> cells;
  for (std::size_t index = 0; index < starts.size() && starts[index] < line.size(); ++index) {
    const std::size_t begin = starts[index];
    const std::size_t end = index + 1 < starts.size() ? starts[index + 1] : line.size();
    if (begin > 0 && !is_blank(line[begin - 1])) return std::nullopt;
    cells.emplace_back(trimmed(line.substr(begin, end - begin)));
  }
  return cells;
}

// Splits at tabs and at two or more blanks, for tables whose columns a browser or mail program
// moved.
std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> cells;
  while (!line.empty()) {
    const std::size_t end = std::min({line.find('\t'), line.find("  "), line.size()});
    cells.emplace_back(trimmed(line.substr(0, end)));
    const std::size_t next = line.find_first_not_of(" \t", end);
    line.remove_prefix(std::min(next, line.size()));
  }
  return cells;
}

std::optional<std::vector<std::string>> cells_of(std::string_view line,
                                                 const std::vector<std::size_t>& starts) {
  if (line.find('\t') == std::string_view::npos)
    if (auto cells = sliced(line, starts)) return cells;
  auto cells = split(line);
  return cells.size() == starts.size() ? std::optional{std::move(cells)} : std::nullopt;
}

class Reader {
 public:
  explicit Reader(std::string_view text) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    while (!text.empty()) {
      const std::string_view line = cut(text, '\n');
      lines_.push_back(line.substr(0, line.find_last_not_of(" \t\r") + 1));
    }
  }

  Paste read() {
    for (; at_ < lines_.size(); ++at_) take(lines_[at_]);
    end_details();
    return std::move(paste_);
  }

 private:
  [[nodiscard]] bool is_header() const {
    return at_ + 1 < lines_.size() && is_rule(lines_[at_ + 1]) && !lines_[at_].empty();
  }

  void take(std::string_view line) {
    if (line.empty()) return end_details();
    if (auto command = command_in(line)) {
      end_details();
      is_other_open_ = false;
      paste_.commands.push_back(std::move(*command));
      return;
    }
    if (!paste_.commands.empty()) paste_.commands.back().is_answered = true;
    if (is_header()) return take_table();
    if (is_brace(line)) return take_brace(line);
    if (auto entry = key_and_value(line)) return take_entry(line, std::move(*entry));
    end_details();
    if (!take_firewall_row(line)) take_other(line);
  }

  void take_table() {
    end_details();
    is_other_open_ = false;
    const auto starts = column_starts(lines_[at_ + 1]);
    PastedTable table;
    table.place = {at_ + 1, 2, std::string{lines_[at_]}};
    table.columns = cells_of(lines_[at_], starts).value_or(std::vector<std::string>{});
    for (at_ += 2; at_ < lines_.size() && is_row(starts.front()); ++at_) {
      auto cells = cells_of(lines_[at_], starts);
      if (!cells && key_and_value(lines_[at_])) break;
      ++table.place.lines;
      is_other_open_ = is_other_open_ && !cells;
      if (cells) {
        table.rows.push_back(std::move(*cells));
        table.lines.push_back(at_ + 1);
      } else {
        take_other(lines_[at_]);
      }
    }
    --at_;  // read() goes on with the line after the rows
    is_other_open_ = false;
    paste_.tables.push_back(std::move(table));
  }

  // Tells rows from details by indentation: only details are indented.
  [[nodiscard]] bool is_row(std::size_t start) const {
    const std::string_view line = lines_[at_];
    return line.size() > start && !is_blank(line[start]) && !is_brace(line) && !is_header() &&
           !command_in(line);
  }

  // After `| grep pvrdma` the table of rule sets is this one row without a header.
  bool take_firewall_row(std::string_view line) {
    std::string_view rest = trimmed(line);
    if (cut(rest, ' ') != "pvrdma") return false;
    rest = trimmed(rest);
    const std::string enabled{cut(rest, ' ')};
    if (enabled != "true" && enabled != "false") return false;
    is_other_open_ = false;
    paste_.tables.push_back(
        {{at_ + 1, 1, std::string{line}}, {"Name", "Enabled"}, {{"pvrdma", enabled}}, {at_ + 1}});
    return true;
  }

  void open_details(std::string_view line) {
    is_other_open_ = false;
    if (details_) return;
    details_ = PastedDetails{{at_ + 1, 0, std::string{line}}, "", "", {}};
    if (paste_.commands.empty()) return;
    details_->command = paste_.commands.back().text;
    details_->host = paste_.commands.back().host;
  }

  void take_brace(std::string_view line) {
    if (!details_ && !line.ends_with('{')) return take_other(line);
    open_details(line);
    ++details_->place.lines;
  }

  void take_entry(std::string_view line, std::pair<std::string, std::string> entry) {
    if (details_ && (details_->value(entry.first) || details_->entries.size() == kMostEntries))
      end_details();
    open_details(line);
    ++details_->place.lines;
    details_->entries.push_back(std::move(entry));
  }

  void end_details() {
    if (details_ && details_->entries.empty())
      paste_.other.push_back(details_->place);
    else if (details_)
      paste_.details.push_back(std::move(*details_));
    details_.reset();
  }

  void take_other(std::string_view line) {
    if (is_other_open_)
      paste_.other.back().lines = at_ + 2 - paste_.other.back().line;
    else
      paste_.other.push_back({at_ + 1, 1, std::string{line}});
    is_other_open_ = true;
  }

  std::vector<std::string_view> lines_;
  std::size_t at_ = 0;
  Paste paste_;
  std::optional<PastedDetails> details_;  // the block that is being read
  bool is_other_open_ = false;            // the line before this one belongs to the last of `other`
};

// Opening a FIFO would wait without limit; for a pipe the user gives "-".
Result<std::string> read_regular(const std::string& path) {
  const Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (!fd) return fail(errno, "opening", path);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return fail(errno, "looking at", path);
  if (S_ISDIR(status.st_mode)) return fail(EISDIR, "reading", path);
  if (!S_ISREG(status.st_mode))
    return fail(ESPIPE, "reading from something that is not a file (use - for a pipe)", path);
  return read_file(fd, path);
}

}  // namespace

std::optional<std::size_t> PastedTable::column(std::string_view name) const {
  const auto at = std::find(columns.begin(), columns.end(), name);
  if (at == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(at - columns.begin());
}

const std::string& PastedTable::cell(std::size_t row, std::size_t column) const {
  static const std::string kEmpty;
  return column < rows[row].size() ? rows[row][column] : kEmpty;
}

const std::string* PastedDetails::value(std::string_view key) const {
  const auto at = std::find_if(entries.begin(), entries.end(),
                               [&](const auto& entry) { return entry.first == key; });
  return at == entries.end() ? nullptr : &at->second;
}

Paste parse_paste(std::string_view text) { return Reader{text}.read(); }

std::string hint_to_paste(const std::string& path) {
  if (path != "-" || ::isatty(STDIN_FILENO) != 1) return {};
  return "paste the output of the ESXi host, and end it with Ctrl-D on a line alone";
}

Result<std::string> read_paste(const std::string& path) {
  if (path != "-") return read_regular(path);
  const Fd copy{::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)};
  if (!copy) return fail(errno, "reading", "standard input");
  return read_file(copy, "standard input");
}

}  // namespace pvrdma
