// SPDX-License-Identifier: GPL-2.0-or-later
// The search for a path's MTU against every kind of path: the right answer, and how many packets.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/catch.hpp"
#include "tests/unit/tools/mtu/mtu_path.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl::pmtu;
using fake::Hop;
using fake::Path;

namespace {

Hop router(unsigned mtu, std::string name = "r1") { return {mtu, std::move(name)}; }
Hop black_hole(unsigned mtu) {
  Hop hop = router(mtu);
  hop.silent = true;
  return hop;
}
Hop mistaken(unsigned mtu, std::function<unsigned(unsigned)> claim) {
  Hop hop = router(mtu);
  hop.lies = true;
  hop.claim = std::move(claim);
  return hop;
}
Path path(unsigned link, std::vector<Hop> hops = {}, unsigned floor = kFloorIpv4) {
  Path made;
  made.floor = floor;
  made.link = link;
  made.hops = std::move(hops);
  return made;
}

// Sizes that matter, and some by chance.
std::vector<unsigned> sizes(unsigned from, unsigned to, std::mt19937& chance) {
  std::vector<unsigned> out{from, from + 1, to - 1, to};
  for (const unsigned usual :
       {575U, 576U, 1279U, 1280U, 1281U, 1499U, 1500U, 1501U, 1502U, 4352U, 8999U, 9000U})
    if (usual >= from && usual <= to) out.push_back(usual);
  for (int more = 0; more < 300; ++more)
    out.push_back(std::uniform_int_distribution{from, to}(chance));
  return out;
}

}  // namespace

TEST_CASE("how many packets the usual paths take, and who limits them") {
  struct Row {
    std::string name;
    Path path;
    unsigned mtu, probes;
    Limit limit;
  };
  const std::vector<Row> table{
      {"plain 1500", path(1500), 1500, 1, Limit::LocalLink},
      {"plain 9000", path(9000), 9000, 2, Limit::LocalLink},
      {"small link", path(1400), 1400, 1, Limit::LocalLink},
      {"a router says 1500", path(9000, {router(1500)}), 1500, 7, Limit::Router},
      {"then another 1280", path(9000, {router(1500), router(1280, "r2")}), 1280, 7, Limit::Router},
      {"nobody says 1500", path(9000, {black_hole(1500)}), 1500, 7, Limit::Silence},
      {"nobody says 1504", path(9000, {black_hole(1504)}), 1504, 20, Limit::Silence},
      {"loopback", path(65536), 65535, 1, Limit::LargestPacket},
  };
  for (auto [name, path, mtu, probes, limit] : table) {
    INFO(name);
    const ctl::pmtu::Outcome outcome = path.walk();
    CHECK(outcome.exact);
    CHECK(outcome.mtu == mtu);
    CHECK(outcome.probes == probes);
    CHECK(outcome.limit == limit);
  }
}

TEST_CASE("every MTU behind a link of 9000, with not a word from a router: at most 20 packets") {
  for (const unsigned floor : {kFloorIpv4, kFloorIpv6}) {
    unsigned most = 0;
    for (unsigned mtu = floor; mtu <= 9000; ++mtu) {
      const ctl::pmtu::Outcome outcome = path(9000, {black_hole(mtu)}, floor).walk();
      if (outcome.mtu != mtu || !outcome.exact) FAIL("of " << mtu << " came " << outcome.mtu);
      CHECK(outcome.limit == (mtu == 9000 ? Limit::LocalLink : Limit::Silence));
      most = std::max(most, outcome.probes);
    }
    CHECK(most == 20);
  }
}

TEST_CASE("every MTU behind a link of 9000 with a router that names it: at most 9 packets") {
  for (unsigned mtu = kFloorIpv4; mtu < 9000; ++mtu) {
    const ctl::pmtu::Outcome outcome = path(9000, {router(mtu)}).walk();
    if (outcome.mtu != mtu || outcome.probes > 9)
      FAIL("of " << mtu << " came " << outcome.mtu << " after " << outcome.probes);
    CHECK(outcome.claim == Claim{"r1", mtu});
  }
}

TEST_CASE("any link and any path up to the largest packet: at most 24") {
  std::mt19937 chance{1};
  for (const unsigned link : sizes(kFloorIpv4, kLargestPacket, chance))
    for (int more = 0; more < 20; ++more) {
      const unsigned mtu = std::uniform_int_distribution{kFloorIpv4, link}(chance);
      const ctl::pmtu::Outcome outcome = path(link, {black_hole(mtu)}).walk();
      if (outcome.mtu != mtu || outcome.probes > 24)
        FAIL("link " << link << ": of " << mtu << " came " << outcome.mtu << " after "
                     << outcome.probes);
      if (link < kLargestPacket) CHECK(outcome.link_mtu == link);
    }
}

TEST_CASE("several routers that name their MTU: the smallest, and the one that said so") {
  std::mt19937 chance{2};
  for (int round = 0; round < 3000; ++round) {
    Path made = path(9000);
    for (unsigned mtu = 9000, hop = 1; hop <= 4; ++hop) {
      mtu = std::uniform_int_distribution{kFloorIpv4, mtu}(chance);
      made.hops.push_back(router(mtu, "r" + std::to_string(hop)));
    }
    const ctl::pmtu::Outcome outcome = made.walk();
    REQUIRE(outcome.mtu == made.mtu());
    CHECK(outcome.probes <= 20);
    if (outcome.limit == Limit::Router) {
      const auto first = std::find_if(made.hops.begin(), made.hops.end(),
                                      [&](const Hop& hop) { return hop.mtu == outcome.mtu; });
      CHECK(outcome.claim == Claim{first->name, outcome.mtu});
    }
  }
}

TEST_CASE("a router that names a wrong MTU costs packets, never the answer") {
  std::mt19937 chance{3};
  const std::vector<std::function<unsigned(unsigned)>> claims{
      [](unsigned) { return 0U; },
      [](unsigned) { return 1U; },
      [](unsigned) { return 68U; },
      [](unsigned) { return 1400U; },
      [](unsigned) { return 65535U; },
      [](unsigned size) { return size; },
      [](unsigned size) { return size - 1; },
      [](unsigned size) { return size / 2; },
      [&](unsigned) {
        return std::uniform_int_distribution{0U, 65535U}(chance);
      }};
  for (std::size_t claim = 0; claim < claims.size(); ++claim)
    for (const bool lets_pass : {false, true})
      for (const unsigned mtu : sizes(kFloorIpv4, 8999, chance)) {
        Path made = path(9000, {mistaken(mtu, claims[claim])});
        made.hops.front().lets_pass = lets_pass;
        const ctl::pmtu::Outcome outcome = made.walk();
        INFO("claim " << claim << ", MTU " << mtu << ", lets pass " << lets_pass);
        REQUIRE(outcome.mtu == made.mtu());
        CHECK(outcome.probes <= 28);
        if (lets_pass) CHECK(outcome.limit == Limit::LocalLink);
      }
}

TEST_CASE("losses within the number of tries do not lower the answer") {
  std::mt19937 chance{4};
  unsigned most = 0;
  for (const double rate : {0.1, 0.3, 0.6})
    for (int round = 0; round < 3000; ++round) {
      const unsigned mtu = std::uniform_int_distribution{kFloorIpv4, 9000U}(chance);
      Path made = path(9000, {round % 2 == 0 ? black_hole(mtu) : router(mtu)});
      made.loses = [&](unsigned, unsigned attempt) {
        return attempt < kTries && std::bernoulli_distribution{rate}(chance);
      };
      const ctl::pmtu::Outcome outcome = made.walk();
      INFO("MTU " << mtu << " losing " << rate << ": " << outcome.mtu << " after "
                  << outcome.probes);
      // Where more than half is lost, the number of packets may not do; then nothing is claimed.
      REQUIRE((outcome.exact || (rate > 0.5 && outcome.probes == kProbesMax)));
      REQUIRE((outcome.mtu == mtu || (!outcome.exact && outcome.mtu < mtu)));
      most = std::max(most, rate > 0.5 ? 0 : outcome.probes);
    }
  CHECK(most <= 130);
}

TEST_CASE("the worst losses there can be within the number of tries") {
  for (const unsigned mtu : {68U, 1280U, 1500U, 1501U, 5000U, 8999U, 9000U}) {
    Path made = path(9000, {black_hole(mtu)});
    made.loses = [](unsigned, unsigned attempt) { return attempt < kTries; };
    const ctl::pmtu::Outcome outcome = made.walk();
    INFO("MTU " << mtu << ", " << outcome.probes << " packets");
    CHECK(outcome.probes <= kProbesMax);
    if (outcome.exact) CHECK(outcome.mtu == mtu);
    CHECK(outcome.mtu <= mtu);
  }
}

TEST_CASE("answers that come too late count all the same") {
  for (const unsigned mtu : {1280U, 1500U, 4321U, 9000U}) {
    Path made = path(9000, {black_hole(mtu)});
    made.late = true;
    const ctl::pmtu::Outcome outcome = made.walk();
    CHECK(outcome.mtu == mtu);
    CHECK(outcome.probes <= 20);
  }
}

TEST_CASE("a link that refuses without a number is searched without a packet") {
  for (const unsigned mtu : {68U, 600U, 1500U, 9000U, 40000U}) {
    Path made = path(mtu);
    made.link_tells = false;
    const ctl::pmtu::Outcome outcome = made.walk();
    CHECK(outcome.mtu == mtu);
    CHECK(outcome.limit == Limit::LocalLink);
    CHECK_FALSE(outcome.link_mtu);
  }
}

TEST_CASE("a host that answers nothing ends the search, without an answer") {
  for (const unsigned floor : {kFloorIpv4, kFloorIpv6}) {
    Path made = path(9000, {}, floor);
    made.answers = false;
    const ctl::pmtu::Outcome outcome = made.walk();
    CHECK(outcome.mtu == 0);
    CHECK_FALSE(outcome.exact);
    CHECK(outcome.probes == 1 + kTries);
  }
}
