// The limit of what disturbs, over whatever the agent's user may ask for.
#include <algorithm>
#include <deque>
#include <map>
#include <random>

#include "agent/model/budget.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tries.hpp"

using namespace pvrdma;
using pvrdma::test::tries;

namespace {

using Random = std::mt19937;

std::string random_function(Random& random) {
  // More than a VM has NICs: what is asked for need not be there.
  return "0000:13:" + std::to_string(10 + random() % 20) + ".1";
}

Operation random_operation(Random& random) {
  switch (random() % 6) {
    case 0:
      return ReloadDriver{};
    case 1:
      return RebindFunction{random_function(random)};
    case 2:
    case 3:
      return BounceLink{random_function(random), "eth0"};
    case 4:
      return BindFunction{random_function(random)};
    default:
      return LoadModule{"m" + std::to_string(random() % 1000)};
  }
}

// What was really done, kept apart from the ledger.
struct Done {
  std::map<std::string, std::deque<BootTime>> times;

  // How often within a window that ends now.
  std::size_t count(const std::string& what, BootTime now) {
    auto& list = times[what];
    list.push_back(now);
    while (list.front() + kLimitWindow < now) list.pop_front();
    return list.size();
  }
};

}  // namespace

TEST_CASE("whatever is asked, what disturbs stays within its limit", "[property]") {
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
      // Also such as ended without anything done, or never.
      if (random() % 3 == 0) attempt.outcome = static_cast<Outcome>(random() % 7);
      if (random() % 20 == 0) attempt.finished.reset();
      if (limited_until(ledger, operation, now)) {
        CHECK(*limited_until(ledger, operation, now) > now);
        attempt.finished = now;
        attempt.outcome = Outcome::NotAllowed;
        add(ledger, attempt);
        continue;
      }
      add(ledger, attempt);
      if (!disturbs(operation) || is_refusal(attempt)) continue;
      ++disturbed;
      if (takes_driver_away(operation)) {
        REQUIRE(done.count("driver", now) <= kMostReloads);
      } else {
        REQUIRE(done.count("links", now) <= kMostBouncesOfAll);
        REQUIRE(done.count(target(operation), now) <= kMostBounces);
      }
    }
    CHECK(disturbed >= kMostReloads);
  }
}

TEST_CASE("the ledger keeps what the limits count") {
  CHECK(kMostReloads <= kAttemptsKept);
  CHECK(kMostBouncesOfAll <= kAttemptsKept);
  CHECK(kMostBounces <= kMostBouncesOfAll);
}

TEST_CASE("a limit ends when the oldest that counts is ten minutes old") {
  Ledger ledger;
  const BounceLink bounce{"0000:13:00.1", "eth0"};
  for (unsigned i = 0; i < kMostBounces; ++i) {
    CHECK_FALSE(limited_until(ledger, bounce, from_ms(1000 * i)));
    add(ledger,
        {verb(bounce), bounce.function, from_ms(1000 * i), from_ms(1000 * i), Outcome::Failed, ""});
  }
  const BootTime free = BootTime{} + kLimitWindow + Milliseconds{1};
  CHECK(limited_until(ledger, bounce, from_ms(50'000)) == free);
  CHECK_FALSE(limited_until(ledger, bounce, free));
  CHECK_FALSE(limited_until(ledger, BounceLink{"0000:1b:00.1", "eth1"}, from_ms(50'000)));
  CHECK_FALSE(limited_until(ledger, ReloadDriver{}, from_ms(50'000)));
  CHECK_FALSE(limited_until(ledger, ConfigureLink{"0000:13:00.1", "eth0", 9000U, {}}, free));
}
