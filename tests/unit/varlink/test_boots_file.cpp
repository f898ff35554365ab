// Timelines of boots: as the interface declares them, in files and back, and whatever else a file
// may hold.
#include "agent/varlink/boots_file.hpp"

#include <cerrno>

#include "agent/varlink/interface.hpp"
#include "agent/varlink/interfaces.hpp"
#include "tests/unit/boots.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/mutate.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::test;
using namespace pvrdma::varlink;

namespace {

const std::string kMachine = "0123456789abcdef0123456789abcdef";

KeptBoots many(std::size_t count) {
  KeptBoots kept{kMachine, {}};
  for (std::size_t i = 0; i < count; ++i) kept.boots.push_back(usual_boot(std::to_string(i)));
  return kept;
}

Json good() { return Json::parse(to_text(many(2))); }

int code_of(const Json& document) {
  const auto read = boots_from(document.dump());
  return read ? 0 : read.error().code;
}

}  // namespace

TEST_CASE("boots are as the interface declares them") {
  const auto interface = parse_interface(kAgentInterface);
  REQUIRE(interface);
  const Json boots = to_json(many(2).boots);
  const auto& type = interface->types.at("Boots");
  CHECK_FALSE(mismatch(*interface, type, boots, Strictness::Complete));
  CHECK(boots["boots"][0]["steps"][1] == Json::parse(R"({"step": "adapter_seen",
    "subject": "0000:13:00.1", "at_ms": 2010, "took_ms": null, "at_or_before": true})"));
  CHECK(boots["boots"][0]["steps"][2]["took_ms"] == 40);
  CHECK(boots["boots"][0]["steps"][0]["subject"].is_null());
}

TEST_CASE("boots are read as they were written") {
  const KeptBoots kept = many(3);
  const auto back = boots_from(to_text(kept));
  REQUIRE(back);
  CHECK(*back == kept);
  // Steps of a later version are none of ours.
  Json later = good();
  later["boots"][0]["steps"][0]["step"] = "teleported";
  later["boots"][0]["mood"] = "sunny";
  REQUIRE(boots_from(later.dump()));
  CHECK(boots_from(later.dump())->boots[0].steps.size() == kept.boots[0].steps.size() - 1);
}

TEST_CASE("what is kept is bounded in number and size, the oldest first") {
  const auto back = boots_from(to_text(many(30)));
  REQUIRE(back);
  REQUIRE(back->boots.size() == kBootsAtMost);
  CHECK(back->boots.back().boot_id == "10");
  KeptBoots large = many(11);
  for (Timeline& boot : large.boots)
    for (int i = 0; i < 200; ++i)
      put(boot, StepKind::ModuleLoaded, std::string(100, 'x') + std::to_string(i), 5000);
  const std::string text = to_text(large);
  CHECK(text.size() <= kBootsBytesAtMost);
  REQUIRE(boots_from(text));
  CHECK(boots_from(text)->boots.front() == large.boots.front());
  CHECK(boots_from(text)->boots.size() < 11);
}

TEST_CASE("the newest boot takes its own place among the others") {
  auto boots = many(11).boots;
  Timeline again = boots[4];
  again.port_changes = 7;
  boots = with_newest(again, std::move(boots));
  CHECK(boots.size() == 11);
  CHECK(boots[0].port_changes == 7);
  boots = with_newest(usual_boot("new"), std::move(boots));
  CHECK(boots.size() == kBootsAtMost);
  CHECK(boots[1].port_changes == 7);
}

TEST_CASE("anything else is refused") {
  CHECK(code_of(good()) == 0);
  for (const char* text : {"", "[]", "{}", "\xff", R"({"version": 1, "boots": []})"})
    CHECK(boots_from(text).error().code == EBADMSG);
  for (const char* pointer :
       {"/version", "/machine", "/boots", "/boots/0", "/boots/0/steps", "/boots/0/began",
        "/boots/0/steps/0", "/boots/0/steps/0/at_ms", "/boots/1/port_changes"}) {
    INFO(pointer);
    Json changed = good();
    changed[Json::json_pointer{pointer}] = Json::array({true});
    CHECK(code_of(changed) == EBADMSG);
  }
  for (const Json& number : {Json(-1), Json(1ULL << 60U), Json(1.5)}) {
    Json changed = good();
    changed["boots"][0]["steps"][0]["at_ms"] = number;
    CHECK(code_of(changed) == EBADMSG);
    changed = good();
    changed["boots"][0]["steps"][0]["took_ms"] = number;
    CHECK(code_of(changed) == EBADMSG);
  }
  Json changed = good();
  changed["boots"][0]["steps"].push_back(changed["boots"][0]["steps"][0]);
  CHECK(code_of(changed) == EBADMSG);
  changed = good();
  changed["boots"][0]["kernel"] = std::string(129, 'k');
  CHECK(code_of(changed) == EBADMSG);
  changed = good();
  for (int i = 0; i < 12; ++i) changed["boots"].push_back(changed["boots"][0]);
  CHECK(code_of(changed) == EBADMSG);
  changed = good();
  changed["version"] = 2;
  CHECK(code_of(changed) == EBADMSG);
}

TEST_CASE("a file that is not there holds no boots, one that is too long is refused") {
  const Tree tree;
  REQUIRE(read_boots(tree / "/boots.json"));
  CHECK(read_boots(tree / "/boots.json")->boots.empty());
  tree.file("/boots.json", to_text(many(1)) + std::string(kBootsBytesAtMost, ' '));
  CHECK(read_boots(tree / "/boots.json").error().code == EFBIG);
  tree.unreadable("/loop.json");
  CHECK(read_boots(tree / "/loop.json").error().code == ELOOP);
}

TEST_CASE("mutated files are read or refused") {
  const char* const pieces[] = {"[", "]", "{", "}", "\"", ":", ",", "null", "-1", "1e99", "true"};
  Mutator mutator{pieces};
  const std::string text = to_text(many(2));
  int bad = 0;
  for (int i = 0; i < 500; ++i) {
    const auto read = boots_from(mutator.mutated(text, 1 + mutator.below(3)));
    if (!read) {
      ++bad;
      CHECK(read.error().code == EBADMSG);
    }
  }
  CHECK(bad > 50);
}
