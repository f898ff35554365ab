// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the text that an administrator pasted from an ESXi shell, and splits it into tables and
// commands.
//
// esxcli prints tables, where a line of dashes gives the widths, details, one "Key: Value" a line,
// and CSV; vsish prints details between braces; esxcfg-nics prints a table without dashes. Details
// are a table of one row here. All strings are as pasted: apply printable() before printing them.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/tools/survey/host_lines.hpp"

namespace pvrdma {

// A block's place in the paste, and its first line.
struct PastedText {
  std::size_t line = 0;   // the first line's number, from 1
  std::size_t lines = 1;  // number of lines
  std::string begins;
};

struct PastedTable {
  PastedText place;
  std::string command;  // the last command before the block, whether it printed the block or not
  std::string host;     // on which that command was run
  std::size_t run = 0;  // the number of that command in Paste::commands, from 1; 0: there is none
  std::vector<std::string> columns;            // as printed; of details the keys
  std::vector<std::vector<std::string>> rows;  // a cell for each column, up to the last with text
  std::vector<std::size_t> lines;              // the line number of each row

  // Names count by their letters and digits, without case: CSV has "MACAddress" for "MAC Address".
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  [[nodiscard]] bool has(std::initializer_list<std::string_view> names) const;
  // Empty where there is none.
  [[nodiscard]] const std::string& cell(std::size_t row, std::string_view name) const;
};

struct Paste {
  std::vector<PastedTable> tables;
  std::vector<PastedCommand> commands;
  std::vector<PastedText> other;  // blocks that are neither tables nor commands
};

// Pure.
[[nodiscard]] Paste parse_paste(std::string_view text);

// The content of a regular file, or of standard input where `path` is "-"; at most 1 MiB.
[[nodiscard]] Result<std::string> read_paste(const std::string& path);
// What to do where read_paste("-") reads from a terminal; empty: it does not.
[[nodiscard]] std::string hint_to_paste(const std::string& path);

}  // namespace pvrdma
