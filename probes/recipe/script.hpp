// The field's recipe in a shell script: which of its lines are the recipe's, what they do, and
// whether they can be commented out without touching or breaking what stands beside them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/recipe/steps.hpp"

namespace pvrdma::probes {

// Lines that go together.
struct RecipeLines {
  unsigned first = 0, last = 0;  // from 1
  std::string text;              // as written, without the last newline
  std::vector<RecipeStep> steps;
  // Why they cannot be commented out; empty: they can. A full sentence's beginning in lower case:
  // "it also runs /usr/bin/mount".
  std::string left;
  // A block may hold nothing else, and needs a command: they are replaced by a ":".
  bool in_block = false;
  friend bool operator==(const RecipeLines&, const RecipeLines&) = default;
};

struct RecipeReading {
  std::vector<RecipeLines> lines;
  std::vector<std::string> scripts;  // absolute paths of scripts that are run
  std::string interpreter;
  unsigned trouble_line = 0;  // from where on it was not understood; 0: it was
  bool nothing_else = false;  // every command is the recipe's, or a filler
};

// Nothing where the #! line names no shell.
[[nodiscard]] RecipeReading read_recipe(std::string_view text, const RecipeScope& scope);

}  // namespace pvrdma::probes
