// A shell script's text as tokens: POSIX's token recognition (Shell Command Language, 2.3) as far
// as lines are to be told apart. Nothing is expanded or run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pvrdma::probes {

struct ShellToken {
  enum class Kind { Word, Operator, Newline } kind = Kind::Word;
  std::string text;      // quotes removed; expansions stay as they are written
  bool quoted = false;   // a part was, so it is no reserved word
  unsigned line = 0;     // where it begins, from 1
  unsigned to_line = 0;  // where it ends; of a newline: the end of the here-documents it begins
};

struct ShellTokens {
  std::vector<ShellToken> list;
  unsigned trouble_line = 0;  // of a quote, expansion or here-document without end; 0: none
};

// Comments, redirections and what here-documents hold are left out. Tokens after a construct that
// has no end are missing.
[[nodiscard]] ShellTokens shell_tokens(std::string_view text);

}  // namespace pvrdma::probes
