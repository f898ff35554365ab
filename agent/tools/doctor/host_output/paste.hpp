// SPDX-License-Identifier: GPL-2.0-or-later
// What an administrator pasted from an ESXi shell, taken apart. Pure.
//
// esxcli prints tables, whose widths a line of dashes tells, and details, "Key: Value" in a line
// each; vsish prints details between braces. All strings are as they were pasted: printable()
// before they are printed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pvrdma::doctor {

// Where something is, and how it begins.
struct PastedText {
  std::size_t line = 0;   // the first, from 1
  std::size_t lines = 1;  // how many
  std::string begins;
};

struct PastedTable {
  PastedText place;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // a cell for each column, up to the last with text
  std::vector<std::size_t> lines;              // of each row

  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  // Empty where there is none.
  [[nodiscard]] const std::string& cell(std::size_t row, std::size_t column) const;
};

struct PastedDetails {
  PastedText place;
  std::string command;  // the last one before it, of whatever
  std::vector<std::pair<std::string, std::string>> entries;

  // Null: it has no such key.
  [[nodiscard]] const std::string* value(std::string_view key) const;
};

struct PastedCommand {
  std::string text;          // from the program's name on; empty: a prompt alone
  bool at_prompt = false;    // after "[root@esx:~]": it was run, and the one before it has ended
  bool is_answered = false;  // something stands between it and the next
};

struct Paste {
  std::vector<PastedTable> tables;
  std::vector<PastedDetails> details;
  std::vector<PastedCommand> commands;
  std::vector<PastedText> other;  // neither of these
};

[[nodiscard]] Paste parse_paste(std::string_view text);

}  // namespace pvrdma::doctor
