// SPDX-License-Identifier: GPL-2.0-or-later
// The lines of a text that an administrator pasted from an ESXi shell: commands, and the lines of
// tables as they were before a terminal wrapped them. Pure. For host_paste.cpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pvrdma {

struct PastedCommand {
  std::string text;          // from the program's name on; empty: the prompt has no command
  bool at_prompt = false;    // after "[root@esx:~]": it was run, and the one before has ended
  bool is_answered = false;  // there is text between this command and the next
  std::string host{};        // that of the prompt, or of ssh before the program; empty: not named
};

// Reads "[root@esx01:~] esxcli rdma device list", "~ # esxcli …", "Output of \"localcli …\":", and
// commands typed at vsish's own prompt.
[[nodiscard]] std::optional<PastedCommand> command_in(std::string_view line);

struct PastedLine {
  std::size_t number = 0;  // in the text, from 1
  std::string text;        // without blanks at its end
};

// All lines; of a table's line that a terminal broke, one line with the number of its first piece.
// Without the blank lines of a text that has one after each line, as some mail programs send.
[[nodiscard]] std::vector<PastedLine> pasted_lines(std::string_view text);

// A host without a name of its own is called localhost.
[[nodiscard]] inline bool is_host_name(std::string_view host) {
  return !host.empty() && !host.starts_with("localhost");
}

// The word after `name` in a command, up to a blank, a slash or a quote; empty: there is none.
[[nodiscard]] std::string word_after(std::string_view command, std::string_view name);

}  // namespace pvrdma
