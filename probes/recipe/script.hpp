// SPDX-License-Identifier: GPL-2.0-or-later
// Relations between the lines of a shell script, as far as single lines show them: which lines must
// not be commented out.
#pragma once

#include <string>
#include <string_view>

namespace pvrdma::probes {

// The shell of the #! line, if any: /bin/sh or /bin/bash, always at these fixed paths; empty:
// another interpreter.
[[nodiscard]] std::string shell_of(std::string_view script);

// Takes the lines in turn, without empty lines and comments.
class ScriptLines {
 public:
  explicit ScriptLines(std::string shell) : shell_(std::move(shell)) {}

  // Call it before next(): why the next line must stay; empty: it may be commented out.
  [[nodiscard]] std::string why_to_stay() const;
  // `goes`: the line may be commented out.
  void next(unsigned number, std::string_view line, bool goes);
  // The line that begins a body (`then`, `do`, `{`) that would become empty; 0: there is none.
  [[nodiscard]] unsigned emptied() const { return emptied_; }

 private:
  std::string shell_;
  bool continued_ = false;
  unsigned text_from_ = 0;  // the line that may begin a text of several lines; 0: none so far
  unsigned body_from_ = 0;  // the line whose body so far has no line that stays; 0: none
  bool body_has_lines_ = false;
  unsigned emptied_ = 0;
};

}  // namespace pvrdma::probes
