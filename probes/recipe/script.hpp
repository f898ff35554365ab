// SPDX-License-Identifier: GPL-2.0-or-later
// What the lines of a shell's script say about each other, as far as single lines tell: which of
// them may not be commented out.
#pragma once

#include <string>
#include <string_view>

namespace pvrdma::probes {

// By the #! line, where there is one: /bin/sh or /bin/bash, this system's own at their fixed paths;
// empty: another interpreter.
[[nodiscard]] std::string shell_of(std::string_view script);

// Lines in turn, without those that are empty or a comment.
class ScriptLines {
 public:
  explicit ScriptLines(std::string shell) : shell_(std::move(shell)) {}

  // Before next(): why the line that comes now may not go; empty: it may.
  [[nodiscard]] std::string why_to_stay() const;
  // `goes`: the line may be commented out.
  void next(unsigned number, std::string_view line, bool goes);
  // The line that begins a body (`then`, `do`, `{`) that would be empty; 0: there is none.
  [[nodiscard]] unsigned emptied() const { return emptied_; }

 private:
  std::string shell_;
  bool continued_ = false;
  unsigned text_from_ = 0;  // the line that may begin a text of several lines; 0: none so far
  unsigned body_from_ = 0;  // the line whose body holds nothing so far that stays; 0: none
  bool body_has_lines_ = false;
  unsigned emptied_ = 0;
};

}  // namespace pvrdma::probes
