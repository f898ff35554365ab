// SPDX-License-Identifier: GPL-2.0-or-later
// The limit of nesting before toml11, which recurses as deep as a text nests: the count of
// agent/config/toml_limits.hpp is compared with the tree that toml11 makes of the same text.
#include <algorithm>
#include <array>
#include <string>

#include "agent/config/toml_limits.hpp"
#include "agent/config/toml_tree.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/config/config_tree.hpp"
#include "tests/unit/mutate.hpp"
#include "tests/unit/tries.hpp"

using namespace pvrdma;
using pvrdma::test::ConfigTree;
using pvrdma::test::kMain;
using pvrdma::test::Mutator;

namespace {

constexpr std::size_t kLevels = 16;  // the levels that toml_tree adds

constexpr std::array<const char*, 24> kNestingPieces{"[",
                                                     "]",
                                                     "{",
                                                     "}",
                                                     "\"",
                                                     "'",
                                                     "\"\"\"",
                                                     "'''",
                                                     "\"\"\"\"",
                                                     "\\",
                                                     "#",
                                                     "\n",
                                                     "\r\n",
                                                     "= ",
                                                     ", ",
                                                     "\\\"",
                                                     ".",
                                                     "a = ",
                                                     "\"\"\"x\"\"\"\"",
                                                     "''''",
                                                     "\"\"\"\"\"\"",
                                                     "\r",
                                                     "\\\n  ",
                                                     "[a]\n"};

// Generates TOML by its grammar: values in the many forms of strings, nested in all ways.
class Grammar {
 public:
  explicit Grammar(Mutator& random) : random_(random) {}

  std::string text() {
    std::string made;
    const std::size_t statements = 1 + random_.below(3);
    for (std::size_t i = 0; i < statements; ++i)
      made += "k" + std::to_string(i) + " = " + value(random_.below(6)) + comment() + "\n";
    return made;
  }

 private:
  std::string value(std::size_t depth) {
    if (depth == 0) return scalar();
    if (random_.below(4) == 0) return "{ a = " + value(depth - 1) + ", b = " + scalar() + " }";
    std::string made = "[";
    for (std::size_t i = random_.below(3); i > 0; --i) made += blank() + scalar() + ",";
    return made + blank() + value(depth - 1) + blank() + "]";
  }
  // toml11 3 accepts inner arrays only with elements of one type: all are strings.
  std::string scalar() {
    switch (random_.below(4)) {
      case 0:
        return "\"" + inside(R"(\")", R"([]{}#',\\)") + "\"";
      case 1:
        return "'" + inside("\"", "[]{}#\\,") + "'";
      case 2:
        return "\"\"\"" + inside("\"x", "[]{}#'\n\\\\") + quotes('"');
      default:
        return "'''" + inside("'x", "[]{}#\"\\\n") + quotes('\'');
    }
  }
  // Some of the letters, never split, and `quote` now and then.
  std::string inside(const std::string& quote, const std::string& letters) {
    std::string made;
    for (std::size_t i = random_.below(6); i > 0; --i) {
      const char letter = letters[random_.below(letters.size())];
      made += random_.below(3) == 0 ? quote : std::string(1, letter);
      if (letter == '\\' && made.back() == '\\' && quote != "\"" && quote != "'x") made += '\\';
    }
    return made;
  }
  std::string quotes(char quote) { return std::string(3 + random_.below(3), quote); }
  std::string blank() {
    constexpr std::array<const char*, 5> kBlanks{"", " ", "\n", " # [[[ \"\n", " # '''\n"};
    return kBlanks[random_.below(kBlanks.size())];
  }
  std::string comment() { return random_.below(2) == 0 ? "" : " # \"\"\" [[ {"; }

  Mutator& random_;
};

std::size_t depth_of(const toml_tree::Node& node) {
  std::size_t deepest = 0;
  for (const auto& item : node.items) deepest = std::max(deepest, depth_of(item));
  using Kind = toml_tree::Node::Kind;
  return deepest + (node.kind == Kind::Table || node.kind == Kind::Array ? 1 : 0);
}

// The smallest number of levels with which the text passes.
std::size_t counted_depth(const std::string& text) {
  std::size_t levels = 0;
  while (toml_limits::excess(text, {.levels = levels, .values = 99999, .marks = 99999})) ++levels;
  return levels;
}

// The brackets of a header nest nothing in the text, but one or two levels in the tree; dots do the
// same.
std::size_t hidden_depth(const std::string& text) {
  const auto dots = static_cast<std::size_t>(std::count(text.begin(), text.end(), '.'));
  const bool headers = text.find("\n[") != std::string::npos || text.starts_with('[');
  return 2 * dots + (headers ? 2 : 0);
}

std::string repeated(std::string_view piece, std::size_t times) {
  std::string made;
  for (; times > 0; --times) made += piece;
  return made;
}

}  // namespace

TEST_CASE("no count is lower than the depth that toml11 reads") {
  Mutator random{kNestingPieces};
  Grammar grammar{random};
  std::size_t read = 0;
  std::size_t deep = 0;
  const unsigned texts = test::tries(20000);
  for (unsigned i = 0; i < texts; ++i) {
    std::string text = grammar.text();
    const bool whole = random.below(2) == 0;
    if (!whole) text = random.mutated(std::move(text), 1 + random.below(4));
    const std::size_t counted = counted_depth(text);
    const auto tree = toml_tree::parse(text, "file");
    if (!tree) {
      REQUIRE(tree.error().message().find('\n') == std::string::npos);
      continue;
    }
    ++read;
    const std::size_t depth = depth_of(*tree) - 1;
    if (depth > 3) ++deep;
    CAPTURE(text, counted, depth, whole);
    REQUIRE(depth <= counted + hidden_depth(text));
    REQUIRE(counted <= kLevels);
    // The grammar's own texts are counted exactly, so no good text is refused.
    if (whole) REQUIRE(depth == counted);
  }
  CAPTURE(read, deep);
  CHECK(read > texts / 4);
  CHECK(deep > texts / 20);
}

TEST_CASE("a text that nests deeply behind a string is refused, whatever the string") {
  const std::string value =
      GENERATE(R"("""x"""")", R"("""x""""")", "'''x''''", "'''x'''''", R"("""\""""")", R"("""""")",
               R"(""""""")", "'''''''", R"("\"")", R"('\')", "1");
  ConfigTree tree;
  for (const char* opening : {"[", "{ a = ", "[ { a = "}) {
    CAPTURE(value, opening);
    tree.file(kMain, "\nb = [" + value + ", " + repeated(opening, 500));
    CHECK(tree.complaint() == std::string{kMain} + ":2: is nested too deeply");
    tree.file(kMain, "a = " + value + "\nb = " + repeated(opening, 500));
    CHECK(tree.complaint() == std::string{kMain} + ":2: is nested too deeply");
  }
}

TEST_CASE("reading ends at the first error, whatever follows") {
  const std::string error = GENERATE("[ 1 2", "[[1 [,", "[ { y }", "{ a = ]", "\"open", "[ '");
  const std::string rest =
      GENERATE(" # x", "\n# x\n", "\n=", " ] = [", "\n[a] b\n[[", " \"\"\" # \n", "\n?", "]");
  const std::string text = "k = " + error + rest;
  CAPTURE(text);
  const auto tree = toml_tree::parse(text, "file");
  REQUIRE_FALSE(tree);
  CHECK(tree.error().message().starts_with("file:1: "));
}

TEST_CASE("a table whose arrays of tables came first is named: toml11 3 does not take it, 4 does") {
  ConfigTree tree;
  tree.file(kMain, "[[a.b]]\n\n[a]\n");
  const std::string line = tree.complaint();
  CAPTURE(line);
  CHECK((line == std::string{kMain} + ":1: is not TOML: table (\"a\") already exists." ||
         line.starts_with(std::string{kMain} + ":3: a = {…}: unknown key ")));
}
