// SPDX-License-Identifier: GPL-2.0-or-later
// Answers of the configuration's reader, for toml_grammar.py. The input has each text's length on a
// line of its own, then its bytes. Each answer is a line: "+" for TOML, else "-" and the reason.
#include <cstdio>
#include <string>

#include "agent/config/draft.hpp"
#include "agent/config/toml_tree.hpp"

int main() {
  using namespace pvrdma;
  std::size_t size = 0;
  while (std::scanf("%zu", &size) == 1 && std::getchar() == '\n') {
    std::string text(size, '\0');
    if (std::fread(text.data(), 1, size, stdin) != size) return 1;
    const auto tree = toml_tree::parse(text, "file");
    if (tree) {
      ConfigDraft draft;
      if (draft.add(*tree, "file")) static_cast<void>(std::move(draft).finish());
    }
    const std::string answer = tree ? "+" : "-" + tree.error().message();
    std::printf("%s\n", answer.c_str());
    std::fflush(stdout);
  }
  return 0;
}
