// The ledger on a real file: order of writing, dead executors, limits, no room to write.
#include <unistd.h>

#include "agent/executor/ledger.hpp"
#include "agent/varlink/ledger_file.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/executor/tree.hpp"

namespace pvrdma::executor {

namespace {

Ledger read_back(const std::filesystem::path& path) {
  const auto ledger = varlink::read_ledger(path);
  REQUIRE(ledger.has_value());
  return *ledger;
}

}  // namespace

TEST_CASE("ledger: an attempt is there before it starts, and ended afterwards") {
  const test::Tree tree;
  const auto path = tree / "ledger.json";
  LedgerWriter writer{path, from_ms(1)};
  CHECK(writer.state().has_value());
  writer.begin(LoadModule{"ib_umad"}, from_ms(10));
  Ledger ledger = read_back(path);
  REQUIRE(ledger.attempts.size() == 1);
  CHECK(ledger.attempts[0].verb == "LoadModule");
  CHECK(ledger.attempts[0].target == "ib_umad");
  CHECK(ledger.attempts[0].started == from_ms(10));
  CHECK_FALSE(ledger.attempts[0].finished.has_value());
  writer.end({Outcome::NotShipped, "no such module", 2, {}}, from_ms(25));
  ledger = read_back(path);
  REQUIRE(ledger.attempts.size() == 1);
  CHECK(ledger.attempts[0].finished == from_ms(25));
  CHECK(ledger.attempts[0].outcome == Outcome::NotShipped);
  CHECK(ledger.attempts[0].detail == "no such module");
  // The daemon reads it as another user.
  CHECK(tree.mode("ledger.json") == 0644);
}

TEST_CASE("ledger: what a dead executor left is ended by the next") {
  const test::Tree tree;
  const auto path = tree / "ledger.json";
  {
    LedgerWriter dies{path, from_ms(1)};
    dies.begin(ReloadDriver{}, from_ms(10));
    dies.count_reload();
    dies.end(done(), from_ms(20));
    dies.begin(RebindFunction{test::kFunction}, from_ms(30));
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

TEST_CASE("ledger: counts outlive the attempts") {
  const test::Tree tree;
  const auto path = tree / "ledger.json";
  LedgerWriter writer{path, from_ms(0)};
  writer.begin(ReloadDriver{}, from_ms(0));
  writer.count_reload();
  writer.end(done(), from_ms(0));
  writer.begin(RebindFunction{test::kFunction}, from_ms(0));
  writer.count_rebind();
  writer.end(done(), from_ms(0));
  for (int i = 1; i <= 100; ++i) {
    writer.begin(LoadModule{"m" + std::to_string(i)}, from_ms(i));
    writer.end(done(), from_ms(i));
  }
  const Ledger ledger = read_back(path);
  REQUIRE(ledger.attempts.size() == LedgerWriter::kKept);
  CHECK(ledger.attempts.front().target == "m37");
  CHECK(ledger.attempts.back().target == "m100");
  CHECK(ledger.reloads == 1);
  CHECK(ledger.rebinds == 1);
}

TEST_CASE("ledger: a repeated refusal replaces itself, and nothing else") {
  const test::Tree tree;
  const auto path = tree / "ledger.json";
  LedgerWriter writer{path, from_ms(0)};
  writer.begin(ReloadDriver{}, from_ms(1));
  writer.end({Outcome::Failed, "x", 5, {}}, from_ms(2));
  for (int i = 0; i < 200; ++i)
    writer.refuse(ReloadDriver{}, {Outcome::InUse, "in use", 16, {}}, from_ms(10 + i));
  writer.refuse(LoadModule{"floppy"}, {Outcome::NotAllowed, "no", 1, {}}, from_ms(300));
  const Ledger ledger = read_back(path);
  REQUIRE(ledger.attempts.size() == 3);
  CHECK(ledger.attempts[0].outcome == Outcome::Failed);
  CHECK(ledger.attempts[1].outcome == Outcome::InUse);
  CHECK(ledger.attempts[1].finished == from_ms(209));
  CHECK(ledger.attempts[2].outcome == Outcome::NotAllowed);
}

TEST_CASE("ledger: a directory that is not there, until it is") {
  const test::Tree tree;
  LedgerWriter writer{tree / "missing/ledger.json", from_ms(0)};
  REQUIRE_FALSE(writer.state().has_value());
  CHECK(writer.state().error().code == ENOENT);
  std::filesystem::create_directory(tree / "missing");
  writer.begin(LoadModule{"ib_umad"}, from_ms(1));
  CHECK(writer.state().has_value());
  CHECK(read_back(tree / "missing/ledger.json").attempts.size() == 1);
}

TEST_CASE("ledger: what is not understood is not written over") {
  const test::Tree tree;
  tree.file("/ledger.json", "{\"version\": ");
  LedgerWriter writer{tree / "ledger.json", from_ms(0)};
  REQUIRE_FALSE(writer.state().has_value());
  writer.begin(LoadModule{"ib_umad"}, from_ms(1));
  writer.end(done(), from_ms(2));
  CHECK_FALSE(writer.state().has_value());
  CHECK(tree.read("/ledger.json") == "{\"version\": ");
}

}  // namespace pvrdma::executor
