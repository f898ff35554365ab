// What is written down of a boot, when it is kept with those before it, and what is read of these.
#include "agent/base/machine.hpp"
#include "agent/daemon/boot_keeper.hpp"
#include "agent/daemon/boot_notes.hpp"
#include "tests/unit/boots.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

constexpr BootTime kThen{Milliseconds{10'000}};
const std::string kMachine = "0123456789abcdef0123456789abcdef";

struct Places {
  Tree tree;
  [[nodiscard]] BootNotes notes() const {
    return BootNotes{{tree / "/boot.json", tree / "/mark", tree / "/kept.json"}};
  }
  [[nodiscard]] bool marked() const { return std::filesystem::exists(tree / "/mark"); }
  void unmark() const { tree.remove("/mark"); }
  [[nodiscard]] Result<std::string> keep(const std::string& machine = kMachine) const {
    return keep_boot(tree / "/boot.json", tree / "/kept.json", machine);
  }
  [[nodiscard]] varlink::KeptBoots kept() const {
    return varlink::read_boots(tree / "/kept.json").value();
  }
};

Timeline unready() {
  Timeline boot = usual_boot("now");
  boot.steps.pop_back();
  return boot;
}

}  // namespace

TEST_CASE("an agent that starts again in a boot goes on with its timeline") {
  const Places places;
  BootNotes first = places.notes();
  Timeline boot = first.resume("now", kThen);
  CHECK(boot.steps.size() == 1);
  CHECK(boot.find(StepKind::AgentStarted)->at == kThen);
  put(boot, StepKind::AdapterSeen, kFunction, 10'100);
  REQUIRE(first.note(boot, State::Converging, kThen));
  const Timeline again = places.notes().resume("now", kThen + Milliseconds{5000});
  CHECK(again.steps == boot.steps);
  CHECK_FALSE(again.began.empty());
  // Not with another boot's, nor with what is none.
  CHECK(places.notes().resume("next", kThen).steps.size() == 1);
  places.tree.file("/boot.json", "{");
  CHECK(places.notes().resume("now", kThen).steps.size() == 1);
}

TEST_CASE("without an adapter nothing is written") {
  const Places places;
  BootNotes notes = places.notes();
  const Timeline boot = notes.resume("now", kThen);
  REQUIRE(notes.note(boot, State::Absent, kThen));
  REQUIRE(notes.note(boot, State::Failed, kThen));
  CHECK(std::filesystem::is_empty(places.tree / "/"));
  CHECK_FALSE(notes.news_of_earlier(boot));
}

TEST_CASE("a boot is kept with its verdict, with ready, and then once a minute if there is more") {
  const Places places;
  BootNotes notes = places.notes();
  const auto kept_after = [&](const Timeline& boot, State state, int ms) {
    places.unmark();
    REQUIRE(notes.note(boot, state, kThen + Milliseconds{ms}));
    return places.marked();
  };
  CHECK_FALSE(kept_after(unready(), State::Converging, 0));
  CHECK(kept_after(unready(), State::Degraded, 100));
  CHECK_FALSE(kept_after(unready(), State::Degraded, 200'000));
  Timeline boot = usual_boot("now");
  CHECK(kept_after(boot, State::Ready, 200'100));
  put(boot, StepKind::Address, kFunction, 9000);
  CHECK_FALSE(kept_after(boot, State::Ready, 200'200));
  CHECK(kept_after(boot, State::Ready, 260'100));
  CHECK_FALSE(kept_after(boot, State::Ready, 999'999));
}

TEST_CASE("an agent that starts again keeps what was not kept yet, and no more") {
  const Places places;
  Timeline boot = usual_boot("now");
  REQUIRE(places.notes().note(boot, State::Ready, kThen));
  const auto kept_again = [&] {
    BootNotes notes = places.notes();
    boot = notes.resume("now", kThen);
    places.unmark();
    REQUIRE(notes.note(boot, State::Ready, kThen + Milliseconds{120'000}));
    const bool marked = places.marked();
    if (!marked) places.tree.file("/mark", varlink::to_text({{}, {usual_boot("now")}}));
    return marked;
  };
  CHECK_FALSE(kept_again());
  put(boot, StepKind::Address, kFunction, 9000);
  places.tree.file("/boot.json", varlink::to_text({{}, {boot}}));
  CHECK(kept_again());
}

TEST_CASE("nothing is written while nothing is new, and what cannot be written is said") {
  const Places places;
  BootNotes notes = places.notes();
  REQUIRE(notes.note(usual_boot("now"), State::Ready, kThen));
  places.tree.remove("/boot.json");
  REQUIRE(notes.note(usual_boot("now"), State::Ready, kThen));
  CHECK_FALSE(std::filesystem::exists(places.tree / "/boot.json"));
  BootNotes nowhere{{places.tree / "/none/boot.json", places.tree / "/mark", {}}};
  CHECK(nowhere.note(usual_boot("now"), State::Ready, kThen).error().code == ENOENT);
}

TEST_CASE("keeping puts this boot before the others of this machine") {
  const Places places;
  BootNotes notes = places.notes();
  CHECK(places.keep().value().empty());  // nothing is noted
  CHECK_FALSE(std::filesystem::exists(places.tree / "/kept.json"));
  for (const char* id : {"one", "two", "two"}) {
    REQUIRE(notes.note(usual_boot(id, 10), State::Ready, kThen));
    places.tree.file("/boot.json", varlink::to_text({{}, {usual_boot(id)}}));
    CHECK(places.keep().value().empty());
  }
  CHECK(places.kept() == varlink::KeptBoots{kMachine, {usual_boot("two"), usual_boot("one")}});
  CHECK(places.tree.mode("/kept.json") == 0644);
}

TEST_CASE("what another machine kept, or is no such file, is dropped with a word") {
  const Places places;
  places.tree.file("/boot.json", varlink::to_text({{}, {usual_boot("now")}}));
  for (const std::string& before :
       {varlink::to_text({"another", {usual_boot("theirs")}}), std::string{"\xff{"},
        std::string(varlink::kBootsBytesAtMost + 1, ' ')}) {
    places.tree.file("/kept.json", before);
    const auto dropped = places.keep();
    REQUIRE(dropped);
    CHECK_FALSE(dropped->empty());
    CHECK(places.kept().boots == std::vector{usual_boot("now")});
    CHECK(places.keep().value().empty());
  }
  CHECK_FALSE(places.keep(""));
  places.tree.file("/boot.json", "{");
  CHECK(places.keep().error().code == EBADMSG);
}

TEST_CASE("earlier boots are read when they change, until this one is among them") {
  const Places places;
  BootNotes notes = places.notes();
  const Timeline boot = usual_boot("now");
  const auto keep = [&](std::vector<Timeline> boots, int at, const std::string& machine) {
    places.tree.file("/kept.json", varlink::to_text({machine, std::move(boots)}));
    std::filesystem::last_write_time(places.tree / "/kept.json",
                                     std::filesystem::file_time_type{} + std::chrono::seconds{at});
  };
  CHECK_FALSE(notes.news_of_earlier(boot));
  keep({usual_boot("theirs")}, 1, "another");
  CHECK(notes.news_of_earlier(boot) == std::vector<Timeline>{});
  keep({usual_boot("one")}, 2, this_machine());
  CHECK(notes.news_of_earlier(boot) == std::vector{usual_boot("one")});
  CHECK_FALSE(notes.news_of_earlier(boot));
  keep({boot, usual_boot("one")}, 3, this_machine());
  CHECK(notes.news_of_earlier(boot) == std::vector{usual_boot("one")});
  keep({boot, usual_boot("two")}, 4, this_machine());
  CHECK_FALSE(notes.news_of_earlier(boot));
}

TEST_CASE("machine and boot have names of 32 digits, the machine's not its own") {
  CHECK(this_boot_id().size() == 32);
  // A fresh container has none.
  const std::string id = read_attribute("/etc/machine-id").value_or("");
  CHECK(this_machine().size() == (id.empty() ? 0 : 32));
  CHECK((id.empty() || this_machine() != id));
}
