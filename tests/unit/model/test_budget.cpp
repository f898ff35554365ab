// SPDX-License-Identifier: GPL-2.0-or-later
// The limit of reloads and rebinds, against any requests by the agent's user.
#include <algorithm>
#include <deque>
#include <random>

#include "agent/model/attempt.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tries.hpp"

using namespace pvrdma;
using pvrdma::test::tries;

namespace {

using Random = std::mt19937;

std::string random_function(Random& random) {
  // More functions than a VM has NICs: a request may name one that is not there.
  return "0000:13:" + std::to_string(10 + random() % 20) + ".1";
}

Operation random_operation(Random& random) {
  switch (random() % 5) {
    case 0:
      return ReloadDriver{};
    case 1:
      return RebindFunction{random_function(random)};
    case 2:
      return ConfigureLink{random_function(random), "eth0", 9000U, {}};
    case 3:
      return BindFunction{random_function(random)};
    default:
      return LoadModule{"m" + std::to_string(random() % 1000)};
  }
}

// Counts the operations that were carried out, independently of the ledger.
struct Done {
  std::deque<BootTime> times;

  // The number within the window that ends now.
  std::size_t count(BootTime now) {
    times.push_back(now);
    while (times.front() + kReloadWindow < now) times.pop_front();
    return times.size();
  }
};

}  // namespace

TEST_CASE("for any requests, reloads and rebinds stay within their limit", "[property]") {
  for (unsigned seed = 0; seed < tries(40); ++seed) {
    Random random{seed};
    INFO("seed " << seed);
    const auto pace =
        static_cast<unsigned>(1 + random() % 3000);  // ms from one request to the next, at most
    Ledger ledger;
    Done done;
    unsigned disturbed = 0;
    BootTime now{};
    for (int i = 0; i < 4000; ++i) {
      now += Milliseconds{random() % (pace + 1)};
      const Operation operation = random_operation(random);
      Attempt attempt{verb(operation), target(operation), now, now, Outcome::Done, ""};
      // Some end without having done anything, or never.
      if (random() % 3 == 0) attempt.outcome = static_cast<Outcome>(random() % 7);
      if (random() % 20 == 0) attempt.finished.reset();
      if (limited_until(ledger, operation, now)) {
        CHECK(takes_driver_away(operation));
        CHECK(*limited_until(ledger, operation, now) > now);
        attempt.finished = now;
        attempt.outcome = Outcome::NotAllowed;
        add(ledger, attempt);
        continue;
      }
      add(ledger, attempt);
      if (!takes_driver_away(operation) || is_refusal(attempt)) continue;
      ++disturbed;
      REQUIRE(done.count(now) <= kMostReloads);
    }
    CHECK(disturbed >= kMostReloads);
  }
}

TEST_CASE("the ledger keeps all attempts that the limit counts") {
  CHECK(kMostReloads <= kAttemptsKept);
}

TEST_CASE("a limit ends when the oldest that counts is ten minutes old") {
  Ledger ledger;
  for (unsigned i = 0; i < kMostReloads; ++i) {
    CHECK_FALSE(limited_until(ledger, ReloadDriver{}, from_ms(1000 * i)));
    add(ledger, {Verb::ReloadDriver, kDriverModule, from_ms(1000 * i), from_ms(1000 * i),
                 Outcome::Failed, ""});
  }
  const BootTime free = BootTime{} + kReloadWindow + Milliseconds{1};
  CHECK(limited_until(ledger, ReloadDriver{}, from_ms(50'000)) == free);
  CHECK(limited_until(ledger, RebindFunction{"0000:13:00.1"}, from_ms(50'000)) == free);
  CHECK_FALSE(limited_until(ledger, ReloadDriver{}, free));
  CHECK_FALSE(
      limited_until(ledger, ConfigureLink{"0000:13:00.1", "eth0", 9000U, {}}, from_ms(50'000)));
}
