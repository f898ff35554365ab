// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/survey/host_paste.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "agent/base/file.hpp"
#include "agent/base/handle.hpp"
#include "agent/base/text.hpp"
#include "agent/tools/survey/host_cells.hpp"

namespace pvrdma {

namespace {

bool is_brace(std::string_view line) { return line.ends_with('{') || trimmed(line) == "}"; }

// A line of Markdown around pasted text.
bool is_fence(std::string_view line) { return line.starts_with("```"); }

class Reader {
 public:
  explicit Reader(std::string_view text) : lines_{pasted_lines(text)} {}

  Paste read() {
    for (; at_ < lines_.size(); ++at_) take(lines_[at_].text);
    end_details();
    return std::move(paste_);
  }

 private:
  [[nodiscard]] bool is_header() const {
    return at_ + 1 < lines_.size() && is_rule(lines_[at_ + 1].text) && !lines_[at_].text.empty();
  }

  // The name above a block of esxcli's: of a VM, of a distributed switch.
  [[nodiscard]] bool is_title(std::string_view line) const {
    return !is_blank(line.front()) && at_ + 1 < lines_.size() &&
           lines_[at_ + 1].text.starts_with(' ') && key_and_value(lines_[at_ + 1].text);
  }

  void take(std::string_view line) {
    if (line.empty() || is_fence(line)) return end_details();
    if (auto command = command_in(line)) {
      end_details();
      is_other_open_ = false;
      paste_.commands.push_back(std::move(*command));
      return;
    }
    if (!paste_.commands.empty()) paste_.commands.back().is_answered = true;
    if (is_header()) return take_table(column_starts(lines_[at_ + 1].text), 2);
    if (const auto starts = nic_columns(line); !starts.empty()) return take_table(starts, 1);
    if (is_csv_header(line)) return take_csv(line);
    if (is_brace(line)) return take_brace(line);
    if (auto entry = key_and_value(line)) return take_entry(std::move(*entry));
    end_details();
    if (auto row = row_in(line)) {
      PastedTable& table = open_table(std::move(row->columns));
      add_row(table, std::move(row->cells));
      table.place.lines = 1;
    } else if (!is_title(line)) {
      take_other(line);
    }
  }

  [[nodiscard]] PastedText here() const { return {lines_[at_].number, 0, lines_[at_].text}; }

  PastedTable& open_table(Cells columns) {
    end_details();
    is_other_open_ = false;
    PastedTable& table = paste_.tables.emplace_back();
    table.place = here();
    table.columns = std::move(columns);
    name_command(table);
    return table;
  }

  void name_command(PastedTable& table) const {
    if (paste_.commands.empty()) return;
    table.command = paste_.commands.back().text;
    table.host = paste_.commands.back().host;
    table.run = paste_.commands.size();
  }

  void add_row(PastedTable& table, Cells cells) {
    table.rows.push_back(std::move(cells));
    table.lines.push_back(lines_[at_].number);
  }

  // `head`: the number of lines before the rows.
  void take_table(const std::vector<std::size_t>& starts, std::size_t head) {
    auto columns = cells_of(lines_[at_].text, starts).value_or(Cells{});
    if (starts.size() > kMostColumns) columns.clear();
    PastedTable& table = open_table(std::move(columns));
    table.place.lines = head;
    for (at_ += head; at_ < lines_.size() && is_row(starts.front()); ++at_) {
      auto cells = cells_of(lines_[at_].text, starts);
      if (!cells && key_and_value(lines_[at_].text)) break;
      ++table.place.lines;
      is_other_open_ = is_other_open_ && !cells;
      if (cells)
        add_row(table, std::move(*cells));
      else
        take_other(lines_[at_].text);
    }
    --at_;  // read() goes on with the line after the rows
    is_other_open_ = false;
  }

  // Tells rows from details by indentation: only details are indented.
  [[nodiscard]] bool is_row(std::size_t start) const {
    const std::string_view line = lines_[at_].text;
    return line.size() > start && !is_blank(line[start]) && !is_brace(line) && !is_header() &&
           !is_fence(line) && !command_in(line) && !is_csv_header(line) &&
           nic_columns(line).empty();
  }

  void take_csv(std::string_view line) {
    PastedTable& table = open_table(csv_cells(line));
    table.place.lines = 1;
    for (++at_; at_ < lines_.size(); ++at_) {
      Cells cells = csv_cells(lines_[at_].text);
      // A header of another list has another number of names.
      if (cells.size() != table.columns.size() || !lines_[at_].text.ends_with(',')) break;
      ++table.place.lines;
      add_row(table, std::move(cells));
    }
    --at_;  // read() goes on with the line after the rows
  }

  void open_details() {
    is_other_open_ = false;
    if (details_) return;
    details_.emplace();
    details_->place = here();
    details_->rows.emplace_back();
    details_->lines.push_back(details_->place.line);
    name_command(*details_);
  }

  void take_brace(std::string_view line) {
    const bool opens = line.ends_with('{');
    if (!details_ && !opens) return take_other(line);
    if (opens) end_details();
    open_details();
    ++details_->place.lines;
    if (!opens) end_details();
  }

  void take_entry(std::pair<std::string, std::string> entry) {
    if (details_ && (details_->column(entry.first) || details_->columns.size() == kMostColumns))
      end_details();
    open_details();
    ++details_->place.lines;
    details_->columns.push_back(std::move(entry.first));
    details_->rows.front().push_back(std::move(entry.second));
  }

  void end_details() {
    if (details_ && details_->columns.empty())
      paste_.other.push_back(details_->place);
    else if (details_)
      paste_.tables.push_back(std::move(*details_));
    details_.reset();
  }

  void take_other(std::string_view line) {
    if (is_other_open_)
      paste_.other.back().lines = lines_[at_].number + 1 - paste_.other.back().line;
    else
      paste_.other.push_back({lines_[at_].number, 1, std::string{line}});
    is_other_open_ = true;
  }

  std::vector<PastedLine> lines_;
  std::size_t at_ = 0;
  Paste paste_;
  std::optional<PastedTable> details_;  // the block of details that is being read
  bool is_other_open_ = false;          // the line before this one belongs to the last of `other`
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

// Compares letters and digits alone, without case.
bool is_same_name(std::string_view left, std::string_view right) {
  const auto next = [](std::string_view& rest) {
    while (!rest.empty() && !is_alphanumeric(rest.front())) rest.remove_prefix(1);
    if (rest.empty()) return '\0';
    const char letter = rest.front();
    rest.remove_prefix(1);
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  };
  char letter = '\1';
  while (letter != '\0') {
    letter = next(left);
    if (letter != next(right)) return false;
  }
  return true;
}

}  // namespace

std::optional<std::size_t> PastedTable::column(std::string_view name) const {
  const auto at = std::find_if(columns.begin(), columns.end(), [&](const std::string& column) {
    return is_same_name(column, name);
  });
  if (at == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(at - columns.begin());
}

bool PastedTable::has(std::initializer_list<std::string_view> names) const {
  return std::all_of(names.begin(), names.end(),
                     [&](std::string_view name) { return column(name).has_value(); });
}

const std::string& PastedTable::cell(std::size_t row, std::string_view name) const {
  static const std::string kEmpty;
  const auto at = column(name);
  return at && *at < rows[row].size() ? rows[row][*at] : kEmpty;
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
