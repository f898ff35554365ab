// Taking text apart, and putting it together.
#include "agent/base/text.hpp"

#include "tests/unit/catch.hpp"

using namespace pvrdma;

TEST_CASE("text is cut at each end, and whole where there is none") {
  std::string_view rest = "a,,b";
  CHECK(cut(rest, ',') == "a");
  CHECK(cut(rest, ',').empty());
  CHECK(cut(rest, ',') == "b");
  CHECK(rest.empty());
}

TEST_CASE("a number is all of its text") {
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
