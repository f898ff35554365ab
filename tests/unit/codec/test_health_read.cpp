// SPDX-License-Identifier: GPL-2.0-or-later
// Answers of other versions, and of a hostile agent, as clients read them.
#include <cerrno>
#include <limits>
#include <utility>

#include "agent/codec/json.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/codec/full_health.hpp"

using namespace pvrdma;
using namespace pvrdma::codec;
using pvrdma::test::full_health;

TEST_CASE(
    "an answer of another version is read, a bad one is refused with the place of the error") {
  const Moment now = Moment::now();
  const Json good = to_json(full_health(now.boot), now.boot);
  Json newer = good;
  newer["something"] = {{"new", true}};
  newer["findings"][0]["id"] = "found-in-2030";
  const auto read = health_from(newer, now);
  REQUIRE(read);
  CHECK(read->findings[0].id == FindingId::Other);
  CHECK(read->findings[0].summary == "held");

  const std::pair<const char*, Json> wrong[] = {{"/state", "splendid"},
                                                {"/summary", 7},
                                                {"/adapters/0/gids/0/index", "x"},
                                                {"/findings/0/evidence/holders/0/pid", nullptr},
                                                {"/executor/busy/call", "Dance tango"}};
  for (const auto& [place, value] : wrong) {
    CAPTURE(place);
    Json bad = good;
    bad[Json::json_pointer{place}] = value;
    const auto refused = health_from(bad, now);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == EBADMSG);
  }
  CHECK_FALSE(health_from(Json::object(), now));
  CHECK_FALSE(plan_from(Json::array(), now));
}

TEST_CASE("no number, time or text of an answer does harm") {
  const Moment now = Moment::now();
  Json evil = to_json(full_health(now.boot), now.boot);
  evil["since"] = "9999-99-99T99:99:99Z";
  evil["observed_ms_ago"] = std::numeric_limits<std::int64_t>::max();
  evil["executor"]["reloads"] = std::numeric_limits<std::int64_t>::min();
  evil["adapters"][0]["mtu"] = std::numeric_limits<std::int64_t>::max();
  evil["adapters"][0]["netdev"] = "e\x1b[31mvil\n";
  evil["findings"][0]["evidence"]["holders"][0]["command"] = "\x1b[2J\u202e";
  const auto read = health_from(evil, now);
  REQUIRE(read);
  CHECK(read->since == BootTime{});
  CHECK(read->reloads == 0);
  CHECK(read->adapters[0].adapter.netdev.get()->name == "e\\x1b[31mvil\\n");
  CHECK(read->findings[0].holders[0].command == "\\x1b[2J\\u202e");
}
