// SPDX-License-Identifier: GPL-2.0-or-later
// The ledger on a real file: order of writing, dead executors, limits, a full disk.
#include <cerrno>

#include "agent/codec/ledger_file.hpp"
#include "agent/executor/ledger.hpp"
#include "agent/model/attempt.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/executor/tree.hpp"

namespace pvrdma::executor {

namespace {

Ledger read_back(const std::filesystem::path& path) {
  const auto ledger = codec::read_ledger(path);
  REQUIRE(ledger.has_value());
  return *ledger;
}

OperationResult done_to_driver() {
  OperationResult result = done();
  result.driver_taken = true;
  return result;
}

void begin(LedgerWriter& writer, const Operation& operation, BootTime now) {
  REQUIRE_FALSE(writer.begin(operation, Caller::Root, now));
}

}  // namespace

TEST_CASE("ledger: an attempt is written before it starts, and its end afterwards") {
  const test::Tree tree;
  const auto path = tree / "ledger.json";
  LedgerWriter writer{path, from_ms(1)};
  CHECK(writer.state().has_value());
  begin(writer, LoadModule{"ib_umad"}, from_ms(10));
  Ledger ledger = read_back(path);
  REQUIRE(ledger.attempts.size() == 1);
  CHECK(ledger.attempts[0].verb == Verb::LoadModule);
  CHECK(ledger.attempts[0].target == "ib_umad");
  CHECK(ledger.attempts[0].started == from_ms(10));
  CHECK_FALSE(ledger.attempts[0].finished.has_value());
  writer.end({Outcome::NotShipped, "no such module", 2, {}}, from_ms(25));
  ledger = read_back(path);
  REQUIRE(ledger.attempts.size() == 1);
  CHECK(ledger.attempts[0].finished == from_ms(25));
  CHECK(ledger.attempts[0].outcome == Outcome::NotShipped);
  CHECK(ledger.attempts[0].detail == "no such module");
  // The daemon reads the file as another user.
  CHECK(tree.mode("ledger.json") == 0644);
}

TEST_CASE("ledger: the next executor ends a dead one's attempt") {
  const test::Tree tree;
  const auto path = tree / "ledger.json";
  {
    LedgerWriter dies{path, from_ms(1)};
    begin(dies, ReloadDriver{}, from_ms(10));
    dies.end(done_to_driver(), from_ms(20));
    begin(dies, RebindFunction{test::kFunction}, from_ms(30));
  }
  const LedgerWriter next{path, from_ms(99)};
  const Ledger ledger = read_back(path);
  REQUIRE(ledger.attempts.size() == 2);
  CHECK(ledger.attempts[0].outcome == Outcome::Done);
  CHECK(ledger.attempts[0].finished == from_ms(20));
  CHECK(ledger.attempts[1].finished == from_ms(99));
  CHECK(ledger.attempts[1].outcome == Outcome::Failed);
  CHECK(ledger.attempts[1].detail == "the executor ended during it");
  CHECK(ledger.reloads == 1);
}

TEST_CASE("ledger: counts, and tries that count, survive all other requests") {
  const test::Tree tree;
  const auto path = tree / "ledger.json";
  LedgerWriter writer{path, from_ms(0)};
  begin(writer, ReloadDriver{}, from_ms(0));
  writer.end(done_to_driver(), from_ms(0));
  begin(writer, RebindFunction{test::kFunction}, from_ms(0));
  writer.end(done_to_driver(), from_ms(0));
  for (int i = 1; i <= 150; ++i) {
    begin(writer, LoadModule{"m" + std::to_string(i)}, from_ms(i));
    writer.end(done(), from_ms(i));
    writer.refuse(LoadModule{"r" + std::to_string(i)}, {Outcome::NotAllowed, "no", 1, {}},
                  from_ms(i));
  }
  const Ledger ledger = read_back(path);
  REQUIRE(ledger.attempts.size() == 2 + kAttemptsKept);
  CHECK(ledger.attempts[0].verb == Verb::ReloadDriver);
  CHECK(ledger.attempts[1].verb == Verb::RebindFunction);
  CHECK(ledger.attempts[2].target == "m87");
  CHECK(ledger.attempts.back().target == "m150");
  REQUIRE(ledger.refusals.size() == kRefusalsKept);
  CHECK(ledger.refusals.back().target == "r150");
  CHECK(ledger.reloads == 1);
  CHECK(ledger.rebinds == 1);
}

TEST_CASE("ledger: a repeated refusal replaces itself, and nothing else") {
  const test::Tree tree;
  const auto path = tree / "ledger.json";
  LedgerWriter writer{path, from_ms(0)};
  begin(writer, ReloadDriver{}, from_ms(1));
  writer.end({Outcome::Failed, "x", 5, {}}, from_ms(2));
  for (int i = 0; i < 200; ++i)
    writer.refuse(ReloadDriver{}, {Outcome::InUse, "in use", 16, {}}, from_ms(10 + i));
  // Here the kernel refused, after the attempt was begun.
  begin(writer, ReloadDriver{}, from_ms(250));
  writer.end({Outcome::InUse, "in use", 16, {}}, from_ms(251));
  writer.refuse(LoadModule{"floppy"}, {Outcome::NotAllowed, "no", 1, {}}, from_ms(300));
  const Ledger ledger = read_back(path);
  REQUIRE(ledger.attempts.size() == 1);
  CHECK(ledger.attempts[0].outcome == Outcome::Failed);
  REQUIRE(ledger.refusals.size() == 2);
  CHECK(ledger.refusals[0].outcome == Outcome::InUse);
  CHECK(ledger.refusals[0].finished == from_ms(251));
  CHECK(ledger.refusals[1].outcome == Outcome::NotAllowed);
}

TEST_CASE("ledger: it can be read again after any request and answer", "[property]") {
  // The byte that takes the most room in JSON.
  const std::string endless(60'000, '\x01');
  const BootTime late = from_ms(1LL << 40);
  Ledger full;
  for (unsigned i = 0; i < 2 * kAttemptsKept; ++i)
    for (const Verb verb : {Verb::LoadModule, Verb::RebindFunction})
      for (const Outcome outcome : {Outcome::Failed, Outcome::InUse})
        add(full, {verb, std::to_string(i) + endless, late, late, outcome, endless});
  CHECK(full.attempts.size() == 2 * kAttemptsKept);
  CHECK(full.refusals.size() == kRefusalsKept);
  CHECK(codec::to_text(full).size() < kReadLimitBytes / 2);

  const test::Tree tree;
  const auto path = tree / "ledger.json";
  tree.file("/ledger.json", codec::to_text(full));
  LedgerWriter writer{path, late};
  REQUIRE(writer.state().has_value());
  begin(writer, RebindFunction{endless}, late);
  writer.end({Outcome::Failed, endless, 5, {}}, late);
  writer.refuse(LoadModule{endless}, {Outcome::NotAllowed, endless, 1, {}}, late);
  REQUIRE(writer.state().has_value());
  CHECK(std::filesystem::file_size(path) < kReadLimitBytes / 2);
  CHECK(read_back(path).attempts.size() == 2 * kAttemptsKept);
}

TEST_CASE("ledger: an attempt from before an upgrade with a verb that is gone") {
  const test::Tree tree;
  tree.file("/ledger.json", R"({"reloads": 1, "rebinds": 0, "attempts": [
    {"verb": "BounceLink", "target": "0000:13:00.1", "started_ms": 5, "finished_ms": null,
     "outcome": "failed", "detail": ""},
    {"verb": "ReloadDriver", "target": "vmw_pvrdma", "started_ms": 10, "finished_ms": 20,
     "outcome": "done", "detail": ""}], "refusals": [
    {"verb": "BounceLink", "target": "0000:13:00.1", "started_ms": 30, "finished_ms": 30,
     "outcome": "in_use", "detail": "in use"}]})");
  const LedgerWriter writer{tree / "ledger.json", from_ms(99)};
  CHECK(writer.state().has_value());
  const Ledger ledger = read_back(tree / "ledger.json");
  CHECK(ledger.reloads == 1);
  REQUIRE(ledger.attempts.size() == 1);
  CHECK(ledger.attempts[0].verb == Verb::ReloadDriver);
  CHECK(ledger.refusals.empty());
}

TEST_CASE("ledger: a disturbing operation that cannot be counted is not begun") {
  const test::Tree tree;
  const auto path = tree / "missing/ledger.json";
  const Operation disturbing[] = {ReloadDriver{}, RebindFunction{test::kFunction}};
  SECTION("no room to write, until there is") {
    LedgerWriter writer{path, from_ms(0)};
    for (const Operation& operation : disturbing)
      for (const Caller caller : {Caller::Agent, Caller::Root}) {
        INFO(describe(operation));
        const auto no = writer.begin(operation, caller, from_ms(1));
        REQUIRE(no);
        CHECK(no->outcome == Outcome::NotAllowed);
        CHECK(no->code == ENOENT);
        CHECK(no->detail.find("could not be counted: creating") != std::string::npos);
      }
    CHECK_FALSE(writer.begin(LoadModule{"ib_umad"}, Caller::Agent, from_ms(2)));
    writer.end(done(), from_ms(3));
    std::filesystem::create_directory(tree / "missing");
    CHECK_FALSE(writer.begin(disturbing[0], Caller::Agent, from_ms(4)));
  }
  SECTION("the file is not understood") {
    tree.file("/missing/ledger.json", "{}");
    LedgerWriter writer{path, from_ms(0)};
    for (const Operation& operation : disturbing)
      CHECK(writer.begin(operation, Caller::Agent, from_ms(1)));
    CHECK(tree.read("/missing/ledger.json") == "{}");
  }
}

TEST_CASE("ledger: the agent's user is held to the limit, root is not") {
  const test::Tree tree;
  const auto path = tree / "ledger.json";
  const RebindFunction rebind{test::kFunction};
  for (unsigned i = 0; i < kMostReloads; ++i) {
    LedgerWriter writer{path, from_ms(i)};  // the executor may have exited in between
    begin(writer, rebind, from_ms(1000));
    writer.end(done(), from_ms(1000));
  }
  LedgerWriter writer{path, from_ms(1000)};
  const auto no = writer.begin(rebind, Caller::Agent, from_ms(2000));
  REQUIRE(no);
  CHECK(no->detail.find("the next is due in 599.00 s") != std::string::npos);
  CHECK(read_back(path).refusals.size() == 1);
  CHECK_FALSE(writer.begin(BindFunction{test::kFunction}, Caller::Agent, from_ms(2000)));
  writer.end(done(), from_ms(2000));
  CHECK_FALSE(writer.begin(rebind, Caller::Root, from_ms(2000)));
  writer.end(done(), from_ms(2000));
  CHECK(writer.begin(rebind, Caller::Agent, from_ms(601'000)));
  CHECK_FALSE(writer.begin(rebind, Caller::Agent, from_ms(601'001)));
}

TEST_CASE("ledger: a missing directory, until it is there") {
  const test::Tree tree;
  LedgerWriter writer{tree / "missing/ledger.json", from_ms(0)};
  REQUIRE_FALSE(writer.state().has_value());
  CHECK(writer.state().error().code == ENOENT);
  std::filesystem::create_directory(tree / "missing");
  begin(writer, LoadModule{"ib_umad"}, from_ms(1));
  CHECK(writer.state().has_value());
  CHECK(read_back(tree / "missing/ledger.json").attempts.size() == 1);
}

TEST_CASE("ledger: a file that is not understood is not overwritten") {
  const test::Tree tree;
  tree.file("/ledger.json", "{\"version\": ");
  LedgerWriter writer{tree / "ledger.json", from_ms(0)};
  REQUIRE_FALSE(writer.state().has_value());
  begin(writer, LoadModule{"ib_umad"}, from_ms(1));
  writer.end(done(), from_ms(2));
  CHECK_FALSE(writer.state().has_value());
  CHECK(tree.read("/ledger.json") == "{\"version\": ");
}

}  // namespace pvrdma::executor
