// SPDX-License-Identifier: GPL-2.0-or-later
// The executor's ledger as JSON.
#include <cerrno>

#include "agent/base/file.hpp"
#include "agent/codec/ledger_file.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/varlink/loop_fixture.hpp"

using namespace pvrdma;
using namespace pvrdma::codec;

TEST_CASE("the ledger") {
  Ledger ledger;
  ledger.reloads = 3;
  ledger.rebinds = 1;
  ledger.attempts = {
      {Verb::LoadModule, "mlx4_ib", from_ms(100), from_ms(150), Outcome::NotShipped, "no"},
      {Verb::ReloadDriver, "vmw_pvrdma", from_ms(200), std::nullopt, {}, ""}};
  ledger.attempts[1].outcome = Outcome::Failed;
  ledger.refusals = {
      {Verb::ReloadDriver, "vmw_pvrdma", from_ms(300), from_ms(300), Outcome::InUse, "in use"}};
  const auto back = ledger_from(to_text(ledger));
  REQUIRE(back);
  CHECK(*back == ledger);
  for (
      const char* bad :
      {R"({"reloads":1,"rebinds":0,"attempts":[{"verb":"ReloadDriver","target":"b","started_ms":9223372036854775807,"outcome":"done","detail":""}]})",
       R"({"reloads":1,"rebinds":0,"attempts":[{"verb":"ReloadDriver","target":"b","started_ms":1,"finished_ms":-9223372036854775808,"outcome":"done","detail":""}]})",
       R"({"reloads":1,"rebinds":0,"attempts":[{"verb":"ReloadDriver","target":"b","started_ms":1,"outcome":"x","detail":""}]})"}) {
    CAPTURE(bad);
    CHECK(ledger_from(bad).error().message().find("an impossible time") != std::string::npos);
  }
  for (const char* bad : {"", "{", "[]", "{}", R"({"reloads":-1,"rebinds":0,"attempts":[]})",
                          R"({"reloads":1,"rebinds":0,"attempts":[{}]})"}) {
    CAPTURE(bad);
    CHECK(ledger_from(bad).error().code == EBADMSG);
  }
  // Written by an executor from before the last upgrade.
  const auto old = ledger_from(
      R"({"reloads":3,"rebinds":1,"attempts":[{"verb":"ReloadDriver","target":"vmw_pvrdma",
          "started_ms":300,"finished_ms":300,"outcome":"in_use","detail":"in use"}]})");
  REQUIRE(old);
  CHECK(old->attempts.empty());
  CHECK(old->refusals == ledger.refusals);
  const test::TemporaryDirectory directory;
  const std::string path = directory / "ledger.json";
  CHECK(read_ledger(path).value() == Ledger{});
  REQUIRE(replace_file(path, to_text(ledger)));
  CHECK(read_ledger(path).value() == ledger);
  CHECK(read_ledger("/proc/self/mem").error().code == EIO);
}
