// A shell script's statements: which physical lines belong together, which blocks they open and
// close, and which simple commands they hold.
//
// This is no shell. It is to tell which lines can be taken out without breaking their neighbours:
// where it is not sure (a construct without end, a word it does not know) it says so, and whoever
// changes a script has the script's own interpreter check the result. Commands inside $( ) and
// backquotes, and in what `eval` is given, are not seen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pvrdma::probes {

struct ShellCommand {
  std::vector<std::string> words;
  std::string after;  // the operator before it: "", ";", "&&", "||", "|", "&"
  friend bool operator==(const ShellCommand&, const ShellCommand&) = default;
};

// Lines that cannot be parted.
struct ShellStatement {
  unsigned first = 0, last = 0;  // lines, from 1
  int depth = 0;                 // of blocks (if, loops, case, braces, parentheses) open before it
  int depth_after = 0;
  int depth_least = 0;   // in between
  bool in_case = false;  // it holds a pattern or a ;; of a case
  std::vector<ShellCommand> commands;

  // It opens and closes what is its own, so that it can be replaced by another statement.
  [[nodiscard]] bool is_whole() const {
    return depth_after == depth && depth_least == depth && !in_case;
  }
};

struct ShellScript {
  std::string interpreter;  // of the #! line, with its path; /bin/sh where there is none
  std::vector<ShellStatement> statements;
  unsigned trouble_line = 0;  // from where on it was not understood; 0: it was
};

[[nodiscard]] ShellScript parse_shell(std::string_view text);

// True of the name or path of a shell whose scripts are read here: sh, bash, dash, ksh, zsh.
[[nodiscard]] bool is_shell(const std::string& program);

// "a", "b c" and 'd' as words, the quotes removed; empty where a quote has no end.
[[nodiscard]] std::vector<std::string> shell_words(std::string_view text);

}  // namespace pvrdma::probes
