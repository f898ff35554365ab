// SPDX-License-Identifier: GPL-2.0-or-later
// The search for a path's MTU step by step: what is sent after which answer, and how long each is
// waited for.
#include "agent/tools/mtu/search.hpp"
#include "agent/tools/mtu/walk.hpp"
#include "tests/unit/catch.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl::pmtu;

TEST_CASE("a link that refuses a packet it claims to carry is not taken at its word") {
  for (const unsigned claimed : {0U, 65535U, 70000U}) {
    Search search{kFloorIpv4};
    search.too_large_here(kLargestPacket, claimed);
    CHECK(search.wanted() == Probe{1500, 1});
    CHECK_FALSE(search.outcome().link_mtu);
  }
}

TEST_CASE("an answer that comes after that of a larger packet changes nothing") {
  Search search{kFloorIpv4};
  search.too_large_here(kLargestPacket, 9000);
  search.sent(1500);
  search.expired();
  search.sent(kFloorIpv4);
  search.answered(1500);
  search.answered(kFloorIpv4);
  CHECK(search.outcome().mtu == 1500);
  CHECK(search.wanted() == Probe{9000, 1});
}

TEST_CASE("a router that speaks once and is silent then is named all the same") {
  Search search{kFloorIpv4};
  search.too_large_here(kLargestPacket, 9000);
  search.sent(1500);
  search.answered(1500);
  search.sent(9000);
  search.refused(9000, {"r1", 1500});
  for (unsigned attempt = 1; attempt <= kTries; ++attempt) {
    REQUIRE(search.wanted() == Probe{1501, attempt});
    search.sent(1501);
    search.expired();
  }
  REQUIRE(search.finished());
  CHECK(search.outcome().limit == Limit::Router);
  CHECK(search.outcome().claim == Claim{"r1", 1500});
}

TEST_CASE("each probe under way is waited for, and an unfinished search says what passed") {
  Search search{kFloorIpv4};
  CHECK(search.wanted() == Probe{kLargestPacket, 1});
  search.too_large_here(kLargestPacket, 9000);
  CHECK(search.wanted() == Probe{1500, 1});
  search.sent(1500);
  CHECK_FALSE(search.wanted());
  CHECK_FALSE(search.finished());
  search.answered(1500);
  CHECK(search.wanted() == Probe{9000, 1});
  search.sent(9000);
  const ctl::pmtu::Outcome outcome = search.outcome();
  CHECK(outcome.mtu == 1500);
  CHECK_FALSE(outcome.exact);
  CHECK_FALSE(outcome.limit);
  CHECK(outcome.probes == 2);
}

TEST_CASE("a router's word about the last try is not waited past an answer that proves it wrong") {
  Search search{kFloorIpv4};
  search.too_large_here(kLargestPacket, 1501);
  search.sent(1500);
  search.answered(1500);
  for (unsigned attempt = 1; attempt <= kTries; ++attempt) {
    REQUIRE(search.wanted() == Probe{1501, attempt});
    search.sent(1501);
    search.refused(1501, {"r1", 1500});
  }
  CHECK_FALSE(search.wanted());
  CHECK_FALSE(search.finished());
  SECTION("no answer") {
    search.expired();
    REQUIRE(search.finished());
    CHECK(search.outcome().claim == Claim{"r1", 1500});
  }
  SECTION("an answer") {
    search.answered(1501);
    REQUIRE(search.finished());
    CHECK(search.outcome().mtu == 1501);
    CHECK(search.outcome().limit == Limit::LocalLink);
  }
}

TEST_CASE("the time for an answer follows the slowest one, and grows with each try") {
  Pace pace;
  CHECK(pace.wait(1) == Milliseconds{1000});
  CHECK(pace.wait(kTries) == Milliseconds{1000});
  pace.sample(Milliseconds{0});
  CHECK(pace.wait(1) == Milliseconds{200});
  CHECK(pace.wait(2) == Milliseconds{400});
  CHECK(pace.wait(3) == Milliseconds{800});
  CHECK(pace.wait(4) == Milliseconds{1000});
  pace.sample(Milliseconds{300});
  pace.sample(Milliseconds{10});
  CHECK(pace.wait(1) == Milliseconds{700});
  CHECK(pace.wait(2) == Milliseconds{1000});
  pace.sample(Milliseconds{900});
  CHECK(pace.wait(1) == Milliseconds{1900});
  CHECK(pace.wait(5) == Milliseconds{1900});
  pace.sample(Milliseconds{60'000});
  CHECK(pace.wait(1) == Milliseconds{3000});
}
