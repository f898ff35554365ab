// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/ctl/text.hpp"

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/catch.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;

TEST_CASE("wrapped breaks at spaces only and keeps long words whole") {
  CHECK(wrapped("", 20, 4).empty());
  CHECK(wrapped("one two three", 80, 4) == "one two three");
  CHECK(wrapped("one two three", 11, 4) == "one two\n    three");
  CHECK(wrapped("one two three", 12, 4) == "one two\n    three");
  CHECK(wrapped("a /Net/PVRDMAVmknic b", 10, 2) == "a\n  /Net/PVRDMAVmknic\n  b");
  CHECK(wrapped("\xc3\xbc\xc3\xbc \xc3\xbc\xc3\xbc", 5, 0) == "\xc3\xbc\xc3\xbc \xc3\xbc\xc3\xbc");
}

TEST_CASE("a row has its label and its text, in plain text") {
  Style style;
  style.width = 18;
  CHECK(row("Driver", "one two three", 10, style) == "  Driver  one two\n          three\n");
  CHECK(row("", "\x1b[2J", 10, style) == "          \\x1b[2J\n");
  CHECK(row("Driver", "", 10, style).empty());
}

TEST_CASE("padded and shortened count columns, not bytes") {
  CHECK(padded("\xc3\xbc", 3) == "\xc3\xbc  ");
  CHECK(padded("long", 2) == "long");
  CHECK(shortened("abcdef", 6) == "abcdef");
  CHECK(shortened("abcdefg", 6) == "abc...");
  CHECK(shortened("\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc", 4) == "\xc3\xbc...");
  CHECK(shortened("abc", 2) == "ab");
}

TEST_CASE("spans of time") {
  const std::vector<std::pair<std::int64_t, std::string>> table{{-5, "0 ms"},
                                                                {0, "0 ms"},
                                                                {999, "999 ms"},
                                                                {1000, "1 s"},
                                                                {59'999, "59 s"},
                                                                {60'000, "1 min"},
                                                                {95'000, "1 min 35 s"},
                                                                {3'600'000, "1 h"},
                                                                {7'800'000, "2 h 10 min"},
                                                                {86'400'000, "1 day"},
                                                                {180'000'000, "2 days 2 h"}};
  for (const auto& [ms, text] : table) CHECK(span(Milliseconds{ms}) == text);
}

TEST_CASE("a moment is shown in UTC, with its age") {
  const Moment now{from_ms(1'000'000), Milliseconds{1'795'228'483'000}};
  CHECK(moment(now.boot - std::chrono::minutes{3}, now) == "2026-11-21 02:31:43 UTC (3 min ago)");
}

TEST_CASE("without colours nothing is painted, and no empty text") {
  CHECK(painted("x", Colour::Red, Style{80, false, {}}) == "x");
  CHECK(painted("x", Colour::Red, Style{80, true, {}}) == "\x1b[1;31mx\x1b[0m");
  CHECK(painted("", Colour::Red, Style{80, true, {}}).empty());
}
