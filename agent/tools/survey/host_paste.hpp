// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the text that an administrator pasted from an ESXi shell, and splits it into tables,
// details and commands.
//
// esxcli prints tables, where a line of dashes gives the widths, and details, one "Key: Value" a
// line; vsish prints details between braces. All strings are as pasted: apply printable() before
// printing them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/base/error.hpp"

namespace pvrdma {

// A block's place in the paste, and its first line.
struct PastedText {
  std::size_t line = 0;   // the first line's number, from 1
  std::size_t lines = 1;  // number of lines
  std::string begins;
};

struct PastedTable {
  PastedText place;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // a cell for each column, up to the last with text
  std::vector<std::size_t> lines;              // the line number of each row

  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  // Empty where there is none.
  [[nodiscard]] const std::string& cell(std::size_t row, std::size_t column) const;
};

struct PastedDetails {
  PastedText place;
  std::string command;  // the last command before the block, whether it printed the block or not
  std::string host;     // of the prompt of that command
  std::vector<std::pair<std::string, std::string>> entries;

  // Null: it has no such key.
  [[nodiscard]] const std::string* value(std::string_view key) const;
};

struct PastedCommand {
  std::string text;          // from the program's name on; empty: the prompt has no command
  bool at_prompt = false;    // after "[root@esx:~]": it was run, and the one before has ended
  bool is_answered = false;  // there is text between this command and the next
  std::string host{};        // the host of the prompt, "esx"; empty: the prompt names none
};

struct Paste {
  std::vector<PastedTable> tables;
  std::vector<PastedDetails> details;
  std::vector<PastedCommand> commands;
  std::vector<PastedText> other;  // blocks that are neither tables, details nor commands
};

// Pure.
[[nodiscard]] Paste parse_paste(std::string_view text);

// The content of a regular file, or of standard input where `path` is "-"; at most 1 MiB.
[[nodiscard]] Result<std::string> read_paste(const std::string& path);
// What to do where read_paste("-") reads from a terminal; empty: it does not.
[[nodiscard]] std::string hint_to_paste(const std::string& path);

}  // namespace pvrdma
