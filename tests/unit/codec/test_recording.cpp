// SPDX-License-Identifier: GPL-2.0-or-later
// Events as JSON both ways, and the flight recorder: the events it keeps, and its bounds.
#include "agent/codec/recording.hpp"

#include <cerrno>
#include <cstddef>
#include <random>

#include "agent/base/text.hpp"
#include "agent/codec/value_json.hpp"
#include "agent/varlink/message.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/codec/recording_reader.hpp"
#include "tests/unit/plan/scene.hpp"
#include "tests/unit/random_values.hpp"
#include "tests/unit/tries.hpp"

using namespace pvrdma;
using namespace pvrdma::codec;
using namespace pvrdma::test;

namespace {

constexpr std::size_t kKinds = std::variant_size_v<Event>;

Event random_event(Random& random, std::size_t kind, bool hostile = false) {
  Event event;
  Filler{random, hostile}.fill(event, kind);
  return event;
}

// Whether the visited members lie next to each other and fill the value. A member missing from the
// list leaves a gap that is larger than alignment needs.
template <typename Value>
bool visits_all(const Value& value) {
  const auto* const start = reinterpret_cast<const std::byte*>(&value);
  std::size_t end = 0;
  bool side_by_side = true;
  const auto aligned = [](std::size_t at, std::size_t to) { return (at + to - 1) / to * to; };
  each_member(value, [&]<typename Member>(const char*, const Member& member) {
    const auto at = static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&member) - start);
    side_by_side = side_by_side && at == aligned(end, alignof(Member));
    end = at + sizeof(Member);
  });
  return side_by_side && aligned(end, alignof(Value)) == sizeof(Value);
}

Looked look_at(Snapshot snapshot, Milliseconds after) {
  snapshot.taken_at = kNow + after;
  return {kNow + after, std::move(snapshot)};
}

}  // namespace

TEST_CASE("the list of members has every member, in order") {
  CHECK(visits_all(Error{}));
  CHECK(visits_all(Module{}));
  CHECK(visits_all(LinkOwner{}));
  CHECK(visits_all(LinkAddress{}));
  CHECK(visits_all(Netdev{}));
  CHECK(visits_all(Gid{}));
  CHECK(visits_all(Port{}));
  CHECK(visits_all(RdmaDevice{}));
  CHECK(visits_all(Adapter{}));
  CHECK(visits_all(Holder{}));
  CHECK(visits_all(Initramfs{}));
  CHECK(visits_all(BootScript{}));
  CHECK(visits_all(Attempt{}));
  CHECK(visits_all(Ledger{}));
  CHECK(visits_all(Snapshot{}));
  CHECK(visits_all(AdapterMatch{}));
  CHECK(visits_all(AdapterConfig{}));
  CHECK(visits_all(Config::Modules{}));
  CHECK(visits_all(Config::Readiness{}));
  CHECK(visits_all(Config{}));
  CHECK(visits_all(TimeLimits{}));
  CHECK(visits_all(Start{}));
  CHECK(visits_all(ConfigureLink{}));
  CHECK(visits_all(ConfigLoaded{}));
}

TEST_CASE("each event comes back as it was written, whatever its members", "[property]") {
  const unsigned seed = std::random_device{}();
  Random random{seed};
  INFO("seed " << seed);
  for (unsigned round = 0; round < tries(20'000); ++round) {
    const Event event = random_event(random, round % kKinds);
    const Json json = to_value(event);
    const auto back = event_from(varlink::parse_object(varlink::to_text(json)).value());
    REQUIRE(back);
    REQUIRE(back->index() == event.index());
    REQUIRE(to_value(*back) == json);
    // Equality compares only the members.
    if (const auto* looked = std::get_if<Looked>(&event)) {
      const auto& seen = std::get<Looked>(*back);
      CHECK(static_cast<const SystemState&>(seen.snapshot) == looked->snapshot);
      CHECK(seen.snapshot.taken_at == looked->snapshot.taken_at);
      CHECK(seen.began == looked->began);
    }
    if (const auto* ended = std::get_if<CallEnded>(&event)) {
      CHECK(std::get<CallEnded>(*back).operation == ended->operation);
      CHECK(std::get<CallEnded>(*back).result == ended->result);
    }
    if (const auto* loaded = std::get_if<ConfigLoaded>(&event))
      CHECK(std::get<ConfigLoaded>(*back).config == loaded->config);
  }
}

TEST_CASE("a recording's names are printable, whatever their source", "[property]") {
  const unsigned seed = std::random_device{}();
  Random random{seed};
  INFO("seed " << seed);
  for (unsigned round = 0; round < tries(5000); ++round) {
    Recorder recorder{Start{}};
    recorder.add(random_event(random, round % kKinds, true), kNow);
    std::string text = recorder.text();
    std::erase(text, '\n');
    CHECK(printable(text) == text);
    CHECK(text.find("\\u001b") == std::string::npos);
    CHECK(recording_from(recorder.text()));
  }
}

TEST_CASE("a value that is no event is refused with the place of the error") {
  const Json good = to_value(Event{look_at(ready_scene(), Milliseconds{0})});
  const std::tuple<const char*, Json, const char*> wrong[] = {
      {"/kind", "danced", ".kind danced"},
      {"/kind", nullptr, ".kind"},
      {"/began_ms", -1, "looked.began_ms"},
      {"/began_ms", 5'000'000'000'000, "looked.began_ms"},
      {"/snapshot/adapters/0/netdev/mtu", "x", "looked.snapshot.adapters[0].netdev.mtu"},
      {"/snapshot/modules/1/init", "asleep", "looked.snapshot.modules[1].init"},
      {"/snapshot/adapters", Json::object(), "looked.snapshot.adapters"},
      {"/snapshot/adapters/0", 7, "looked.snapshot.adapters[0]"}};
  for (const auto& [place, value, what] : wrong) {
    Json bad = good;
    bad[Json::json_pointer{place}] = value;
    const auto refused = event_from(bad);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == EBADMSG);
    CHECK(refused.error().what == what);
  }
  CHECK_FALSE(event_from(Json::array()));
  for (const char* text :
       {"", "[]", "{}", R"({"version":2})", R"({"version":1,"start":7})",
        R"({"version":1,"start":{},"events":[7]})",
        R"({"version":1,"start":{},"events":[{"kind":"deadline"}]})",
        R"({"version":1,"start":{},"events":{}})", R"({"version":1,"start":{},"base":7})",
        R"({"version":1,"start":{},"events":[{"at_ms":1,"kind":"looked","changes":7}]})",
        R"({"version":1,"start":{},"events":[{"at_ms":1,"kind":"looked","began_ms":1,)"
        R"("changes":[{"op":"remove","path":"/adapters"}]}]})"})
    CHECK_FALSE(recording_from(text));
}

TEST_CASE("each look is read whole, although a recording keeps only changes") {
  Start start{from_ms(1000), {}, "left out", "", {}};
  start.config.modules.reload = ReloadPolicy::Never;
  Recorder recorder{start};
  Snapshot scene = ready_scene(2);
  scene.first_nic = std::string{"0000:00:03.0"};
  recorder.add(look_at(scene, Milliseconds{0}), kNow);
  const std::size_t first = recorder.bytes();
  recorder.add(look_at(scene, Milliseconds{30}), kNow + Milliseconds{31});
  CHECK(recorder.bytes() - first < 200);
  recorder.add(Deadline{}, kNow + Milliseconds{40});
  scene.first_nic = {};
  rdma(scene).port.state = PortState::Down;
  recorder.add(look_at(scene, Milliseconds{60}), kNow + Milliseconds{61});
  const auto recording = recording_from(recorder.text());
  REQUIRE(recording);
  CHECK(recording->start == start);
  CHECK_FALSE(recording->base);
  CHECK(recording->dropped == 0);
  REQUIRE(recording->events.size() == 4);
  CHECK(recording->events[1].at == kNow + Milliseconds{31});
  const auto& last = std::get<Looked>(recording->events[3].event).snapshot;
  CHECK(static_cast<const SystemState&>(last) == scene);
  CHECK(last.taken_at == kNow + Milliseconds{60});
}

TEST_CASE("an entry that a list drops is one change, not one of each entry after it") {
  constexpr unsigned kAttempts = 64;
  Recorder recorder{Start{}};
  Snapshot scene = ready_scene(2);
  auto& attempts = scene.ledger.attempts;
  const auto attempt = [](unsigned number) {
    return Attempt{Verb::LoadModule, "rdma_cm", from_ms(number), from_ms(number + 1), {}, {}};
  };
  for (unsigned i = 0; i < kAttempts; ++i) attempts.push_back(attempt(i));
  recorder.add(look_at(scene, Milliseconds{0}), kNow);
  for (unsigned i = 0; i < 5; ++i) {
    const std::size_t before = recorder.bytes();
    attempts.erase(attempts.begin() + i);
    attempts.push_back(attempt(kAttempts + i));
    recorder.add(look_at(scene, Milliseconds{i + 1}), kNow);
    CHECK(recorder.bytes() - before < 600);
  }
  attempts.clear();
  recorder.add(look_at(scene, Milliseconds{9}), kNow);
  const auto recording = recording_from(recorder.text());
  REQUIRE(recording);
  const auto& seen = std::get<Looked>(recording->events.at(5).event).snapshot;
  REQUIRE(seen.ledger.attempts.size() == kAttempts);
  CHECK(seen.ledger.attempts.front() == attempt(1));
  CHECK(seen.ledger.attempts.back() == attempt(kAttempts + 4));
  CHECK(std::get<Looked>(recording->events.back().event).snapshot.ledger.attempts.empty());
}

TEST_CASE("the newest events are kept within both bounds, with the state before them") {
  SECTION("in number") {
    Start start;
    start.error = "bad";
    Recorder recorder{start};
    recorder.add(look_at(ready_scene(), Milliseconds{0}), kNow);
    ConfigLoaded loaded;
    loaded.config.modules.reload = ReloadPolicy::Always;
    recorder.add(loaded, kNow);
    for (std::size_t i = 0; i < kEventsKept; ++i) recorder.add(Deadline{}, kNow + Milliseconds{i});
    const auto recording = recording_from(recorder.text());
    REQUIRE(recording);
    CHECK(recording->events.size() == kEventsKept);
    CHECK(recording->dropped == 2);
    REQUIRE(recording->base);
    CHECK(static_cast<const SystemState&>(*recording->base) == ready_scene());
    CHECK(recording->start.config == loaded.config);
    CHECK(recording->start.error.empty());
  }
  SECTION("in bytes") {
    Recorder recorder{Start{}, 20'000};
    for (unsigned i = 0; i < 200; ++i) {
      Snapshot scene = ready_scene(2);
      netdev(scene).mtu = i;
      recorder.add(look_at(scene, Milliseconds{i}), kNow + Milliseconds{i});
      CHECK(recorder.bytes() <= 20'000);
    }
    const auto recording = recording_from(recorder.text());
    REQUIRE(recording);
    CHECK(recording->events.size() > 20);
    CHECK(recording->events.size() + recording->dropped == 200);
    CHECK(recording->dropped > 0);
    const auto* last = std::get_if<Looked>(&recording->events.back().event);
    REQUIRE(last != nullptr);
    CHECK(last->snapshot.adapters.get()->front().netdev.get()->mtu == 199);
  }
  SECTION("a look that is too large alone") {
    Recorder recorder{Start{}, 20'000};
    recorder.add(look_at(ready_scene(), Milliseconds{0}), kNow);
    Snapshot large = ready_scene();
    for (int i = 0; i < 2000; ++i) netdev(large).addresses.push_back({"10.0.0.1/24"});
    recorder.add(look_at(large, Milliseconds{1}), kNow);
    CHECK(recorder.bytes() <= 20'000);
    const auto recording = recording_from(recorder.text());
    REQUIRE(recording);
    CHECK(recording->events.size() == 2);
  }
}
