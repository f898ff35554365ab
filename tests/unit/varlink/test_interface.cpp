// SPDX-License-Identifier: GPL-2.0-or-later
// Interface descriptions: parsing them, and checking values by them.
#include <nlohmann/json.hpp>

#include "agent/varlink/interface.hpp"
#include "agent/varlink/interfaces.hpp"
#include "tests/unit/catch.hpp"

using namespace pvrdma::varlink;
using Json = nlohmann::json;

TEST_CASE("the shipped descriptions") {
  const auto agent = parse_interface(kAgentInterface);
  REQUIRE(agent);
  CHECK(agent->name == "io.pvrdma.Agent");
  CHECK(agent->methods.size() == 7);
  CHECK(agent->methods.at("Reload").in.names == std::vector<std::string>{"adapter"});
  CHECK(agent->methods.at("Reload").in.types.at(0).kind == Type::Kind::Optional);
  CHECK(agent->errors.count("InUse") == 1);
  const auto executor = parse_interface(kExecutorInterface);
  REQUIRE(executor);
  CHECK(executor->name == "io.pvrdma.Executor");
  CHECK(executor->methods.size() == 5);
  const auto service = parse_interface(kServiceInterface);
  REQUIRE(service);
  CHECK(service->name == "org.varlink.service");
}

TEST_CASE("bad descriptions name the line") {
  const std::pair<const char*, const char*> cases[] = {
      {"", "line 1: expected interface"},
      {"interface", "line 1: expected the interface's name"},
      {"interface a.b\nmethod M()", "line 2: expected ->"},
      {"interface a.b\n\nmethod M() -> (x int)", "line 3: expected ,"},
      {"interface a.b\ntype T (x: int", "line 2: expected ,"},
      {"interface a.b\ntype T (x: int, y)", "line 2: expected either members or words"},
      {"interface a.b\ntype T (x: [int)", "line 2: expected ]"},
      {"interface a.b\ntype T (x: Unknown)", "no type Unknown"},
      {"interface a.b\ntype T ()\ntype T ()", "line 3: expected one T only"},
      {"interface a.b\nstruct T ()", "line 2: expected type, method or error"},
      {"interface a.b\ntype T (x: \x01)", "line 2: expected a type"},
  };
  for (const auto& [text, what] : cases) {
    CAPTURE(text);
    const auto interface = parse_interface(text);
    REQUIRE_FALSE(interface);
    CHECK(interface.error().code == EINVAL);
    CHECK(interface.error().what == what);
  }
  CHECK_FALSE(parse_interface("interface a.b\ntype T (x: " + std::string(100'000, '?') + "int)"));
  std::string deep = "interface a.b\ntype T (x: ";
  for (int i = 0; i < 10'000; ++i) deep += "(x: ";
  CHECK_FALSE(parse_interface(deep));
}

TEST_CASE("values") {
  const auto interface = parse_interface(R"(
interface a.b
type Point (x: int, y: ?int)
type All (flag: bool, number: int, part: float, text: string, any: object,
          word: (red, green), point: Point, points: []Point, names: [string]string, maybe: ?string)
)");
  REQUIRE(interface);
  const Type& all = interface->types.at("All");
  const Json good = Json::parse(R"({"flag": true, "number": 1, "part": 1.5, "text": "", "any": {},
    "word": "red", "point": {"x": 1, "y": null}, "points": [{"x": 1, "y": 2}],
    "names": {"a": "b"}, "maybe": null})");
  const auto wrong = [&](const char* pointer, const char* value, Strictness strictness) {
    Json changed = good;
    changed[Json::json_pointer{pointer}] = Json::parse(value);
    return mismatch(*interface, all, changed, strictness).value_or("good");
  };
  CHECK_FALSE(mismatch(*interface, all, good, Strictness::Complete));

  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"/flag", "0", "flag"},
      {"/number", "1.0", "number"},
      {"/number", "9223372036854775808", "number"},
      {"/number", "9223372036854775807", "good"},
      {"/number", "-9223372036854775808", "good"},
      {"/number", "null", "number"},
      {"/part", "1", "good"},
      {"/part", "\"1\"", "part"},
      {"/text", "null", "text"},
      {"/any", "[]", "any"},
      {"/word", "\"blue\"", "word"},
      {"/word", "1", "word"},
      {"/point", "[]", "point"},
      {"/point/x", "\"1\"", "point.x"},
      {"/points", "{}", "points"},
      {"/points/0/y", "true", "points[0].y"},
      {"/points/1", "1", "points[1]"},
      {"/names/a", "1", "names.a"},
      {"/names", "[]", "names"},
      {"/maybe", "1", "maybe"},
      {"/maybe", "\"x\"", "good"},
      {"/extra", "1", "extra"},
      {"/point/z", "1", "point.z"},
  };
  for (const auto& [pointer, value, expected] : cases) {
    CAPTURE(pointer, value);
    CHECK(wrong(pointer, value, Strictness::Request) == expected);
  }
  CHECK(wrong("/extra", "1", Strictness::Reply) == "good");
  CHECK(wrong("/text", "1", Strictness::Reply) == "text");

  Json shorter = good;
  shorter.erase("maybe");
  CHECK_FALSE(mismatch(*interface, all, shorter, Strictness::Request));
  CHECK_FALSE(mismatch(*interface, all, shorter, Strictness::Reply));
  CHECK(mismatch(*interface, all, shorter, Strictness::Complete) == "maybe");
  shorter.erase("text");
  CHECK(mismatch(*interface, all, shorter, Strictness::Reply) == "text");
  CHECK(mismatch(*interface, all, Json::array(), Strictness::Reply) == "");
}
