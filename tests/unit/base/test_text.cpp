// SPDX-License-Identifier: GPL-2.0-or-later
// Splitting text, joining it, and making it printable.
#include "agent/base/text.hpp"

#include <utility>

#include "tests/unit/catch.hpp"

using namespace pvrdma;

TEST_CASE("text is cut at each separator, and is whole without one") {
  std::string_view rest = "a,,b";
  CHECK(cut(rest, ',') == "a");
  CHECK(cut(rest, ',').empty());
  CHECK(cut(rest, ',') == "b");
  CHECK(rest.empty());
}

TEST_CASE("a line's words are the texts between its blanks") {
  CHECK(split_at_blanks("").empty());
  CHECK(split_at_blanks(" \t\r").empty());
  CHECK(split_at_blanks("\t* -  memlock\t64\r") ==
        std::vector<std::string_view>{"*", "-", "memlock", "64"});
}

TEST_CASE("a number takes the whole text") {
  CHECK(number_from<unsigned>("42") == 42U);
  CHECK(number_from<int>("-7") == -7);
  for (const char* wrong : {"", " 1", "1 ", "1x", "-1", "4294967296"}) {
    INFO(wrong);
    CHECK_FALSE(number_from<unsigned>(wrong));
  }
}

TEST_CASE("words are joined, and letters of ASCII made small") {
  CHECK(joined({}).empty());
  CHECK(joined({"a", "b"}) == "a, b");
  CHECK(joined({"a", "b"}, " ") == "a b");
  CHECK(lower("Call Trace: \xC3\x84") == "call trace: \xC3\x84");
}

TEST_CASE("printable escapes what a terminal would obey, and nothing else") {
  const std::vector<std::pair<std::string, std::string>> table{
      {"ibv_asyncwatch", "ibv_asyncwatch"},
      {"a\\b", "a\\b"},
      {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
      {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
      {"\x1b[31m", "\\x1b[31m"},
      {"a\nb\tc\rd", "a\\nb\\tc\\x0dd"},
      {std::string("a\0b", 3), "a\\x00b"},
      {"\x7f", "\\x7f"},
      {"\xc2\x9b"
       "2J",
       "\\x9b2J"},  // C1 CSI
      {"\xe2\x80\xae"
       "cod",
       "\\u202ecod"},  // right-to-left override
      {"\xe2\x81\xa7"
       "cod",
       "\\u2067cod"},                                // right-to-left isolate
      {"\xd8\x9c", "\\u061c"},                       // Arabic letter mark
      {"\xe2\x80\xa8", "\\u2028"},                   // line separator
      {"\xff", "\\xff"},                             // never in UTF-8
      {"\xc3", "\\xc3"},                             // cut off
      {"\xc0\xaf", "\\xc0\\xaf"},                    // overlong
      {"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},           // overlong
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // above U+10FFFF
  };
  for (const auto& [raw, shown] : table) CHECK(printable(raw) == shown);
}

TEST_CASE("printable text is of bounded length, cut between characters, and otherwise unchanged") {
  CHECK(printable("abc", 3) == "abc");
  CHECK(printable("abcd", 3) == "abc…");
  CHECK(printable("a\xc3\xbc\xc3\xbc", 4) == "a\xc3\xbc…");
  CHECK(printable("ab\x1b", 5) == "ab…");  // an escape is not cut in half
  CHECK(printable("", 0).empty());
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string raw{'a', static_cast<char>(first), static_cast<char>(second), 'b'};
      const std::string once = printable(raw);
      REQUIRE(printable(once) == once);
      for (const char c : once) REQUIRE(static_cast<unsigned char>(c) >= ' ');
    }
  }
}

TEST_CASE("the closest word to a mistyped one") {
  CHECK(closest("relaod", {"before", "required", "reload"}) == "reload");
  CHECK(closest("match", {"mac", "match"}) == "match");
  CHECK_FALSE(closest("color", {"before", "required", "reload"}));
  CHECK_FALSE(closest("x", {"mtu"}));
}
