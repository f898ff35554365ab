// SPDX-License-Identifier: GPL-2.0-or-later
// Splits bytes into messages.
#include "agent/varlink/message.hpp"
#include "tests/unit/catch.hpp"

using pvrdma::varlink::Decoder;
using pvrdma::varlink::nests_within;

namespace {

// The next message; "-": none is complete; "!": it is too long.
std::string next(Decoder& decoder) {
  const auto message = decoder.next();
  return !message ? "!" : message->value_or("-");
}

}  // namespace

TEST_CASE("byte by byte") {
  Decoder decoder{100};
  const std::string bytes{"ab\0\0c\0", 6};
  std::string seen;
  for (const char c : bytes) {
    decoder.feed({&c, 1});
    while (decoder.has_message()) seen += "<" + next(decoder) + ">";
  }
  CHECK(seen == "<ab><><c>");
  CHECK_FALSE(decoder.has_part());
}

TEST_CASE("several messages in one read, and half of another") {
  Decoder decoder{100};
  decoder.feed({"one\0two\0thr", 11});
  CHECK_FALSE(decoder.has_part());
  CHECK(next(decoder) == "one");
  CHECK(next(decoder) == "two");
  CHECK(next(decoder) == "-");
  CHECK(decoder.has_part());
  decoder.feed({"ee\0", 3});
  CHECK(next(decoder) == "three");
  CHECK_FALSE(decoder.has_part());
}

TEST_CASE("fed while a message waits") {
  Decoder decoder{100};
  decoder.feed({"one\0tw", 6});
  decoder.feed({"o\0x", 3});
  CHECK(next(decoder) == "one");
  decoder.feed({"y\0", 2});
  CHECK(next(decoder) == "two");
  CHECK(next(decoder) == "xy");
  CHECK(next(decoder) == "-");
}

TEST_CASE("the limit") {
  Decoder decoder{4};
  SECTION("exactly") {
    decoder.feed({"four\0", 5});
    CHECK(next(decoder) == "four");
  }
  SECTION("one more, finished") {
    decoder.feed({"fiver\0", 6});
    CHECK(next(decoder) == "!");
    CHECK(next(decoder) == "!");
  }
  SECTION("one more, unfinished") {
    decoder.feed("four");
    CHECK(next(decoder) == "-");
    decoder.feed("s");
    CHECK(decoder.has_message());
    CHECK(next(decoder) == "!");
  }
  SECTION("a good one before it") {
    decoder.feed({"ok\0toolong", 10});
    CHECK(next(decoder) == "ok");
    CHECK(next(decoder) == "!");
  }
  SECTION("a long one does not leave the next without room") {
    decoder.feed({"four\0four\0", 10});
    CHECK(next(decoder) == "four");
    CHECK(next(decoder) == "four");
  }
}

TEST_CASE("nesting") {
  CHECK(nests_within(R"({"a":[{}]})", 3));
  CHECK_FALSE(nests_within(R"({"a":[{}]})", 2));
  CHECK(nests_within(R"(["[[[[[[","\"[[[[["])", 1));
  CHECK(nests_within("[][][][]", 1));
  CHECK(nests_within("]]]][", 1));
  CHECK_FALSE(nests_within(std::string(100, '{'), 32));
  CHECK(nests_within("\"\\", 1));
}
