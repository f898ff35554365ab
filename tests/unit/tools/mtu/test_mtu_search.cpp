// The search for a path's MTU against every kind of path: the right answer, and how many packets.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "agent/tools/mtu/pace.hpp"
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
Hop liar(unsigned mtu, std::function<unsigned(unsigned)> claim) {
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
    const pmtu::Outcome outcome = path.walk();
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
      const pmtu::Outcome outcome = path(9000, {black_hole(mtu)}, floor).walk();
      if (outcome.mtu != mtu || !outcome.exact) FAIL("of " << mtu << " came " << outcome.mtu);
      CHECK(outcome.limit == (mtu == 9000 ? Limit::LocalLink : Limit::Silence));
      most = std::max(most, outcome.probes);
    }
    CHECK(most == 20);
  }
}

TEST_CASE("every MTU behind a link of 9000 with an honest router: at most 9 packets") {
  for (unsigned mtu = kFloorIpv4; mtu < 9000; ++mtu) {
    const pmtu::Outcome outcome = path(9000, {router(mtu)}).walk();
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
      const pmtu::Outcome outcome = path(link, {black_hole(mtu)}).walk();
      if (outcome.mtu != mtu || outcome.probes > 24)
        FAIL("link " << link << ": of " << mtu << " came " << outcome.mtu << " after "
                     << outcome.probes);
      if (link < kLargestPacket) CHECK(outcome.link_mtu == link);
    }
}

TEST_CASE("several honest routers: the smallest, and the one that said so") {
  std::mt19937 chance{2};
  for (int round = 0; round < 3000; ++round) {
    Path made = path(9000);
    for (unsigned mtu = 9000, hop = 1; hop <= 4; ++hop) {
      mtu = std::uniform_int_distribution{kFloorIpv4, mtu}(chance);
      made.hops.push_back(router(mtu, "r" + std::to_string(hop)));
    }
    const pmtu::Outcome outcome = made.walk();
    REQUIRE(outcome.mtu == made.mtu());
    CHECK(outcome.probes <= 20);
    if (outcome.limit == Limit::Router) {
      const auto first = std::find_if(made.hops.begin(), made.hops.end(),
                                      [&](const Hop& hop) { return hop.mtu == outcome.mtu; });
      CHECK(outcome.claim == Claim{first->name, outcome.mtu});
    }
  }
}

TEST_CASE("a router that lies costs packets, never the answer") {
  std::mt19937 chance{3};
  const std::vector<std::function<unsigned(unsigned)>> lies{
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
  for (std::size_t lie = 0; lie < lies.size(); ++lie)
    for (const bool lets_pass : {false, true})
      for (const unsigned mtu : sizes(kFloorIpv4, 8999, chance)) {
        Path made = path(9000, {liar(mtu, lies[lie])});
        made.hops.front().lets_pass = lets_pass;
        const pmtu::Outcome outcome = made.walk();
        INFO("lie " << lie << ", MTU " << mtu << ", lets pass " << lets_pass);
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
      const pmtu::Outcome outcome = made.walk();
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
    const pmtu::Outcome outcome = made.walk();
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
    const pmtu::Outcome outcome = made.walk();
    CHECK(outcome.mtu == mtu);
    CHECK(outcome.probes <= 20);
  }
}

TEST_CASE("a link that refuses without a number is searched without a packet") {
  for (const unsigned mtu : {68U, 600U, 1500U, 9000U, 40000U}) {
    Path made = path(mtu);
    made.link_tells = false;
    const pmtu::Outcome outcome = made.walk();
    CHECK(outcome.mtu == mtu);
    CHECK(outcome.limit == Limit::LocalLink);
    CHECK_FALSE(outcome.link_mtu);
  }
}

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

TEST_CASE("a host that answers nothing ends the search, without an answer") {
  for (const unsigned floor : {kFloorIpv4, kFloorIpv6}) {
    Path made = path(9000, {}, floor);
    made.answers = false;
    const pmtu::Outcome outcome = made.walk();
    CHECK(outcome.mtu == 0);
    CHECK_FALSE(outcome.exact);
    CHECK(outcome.probes == 1 + kTries);
  }
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
  const pmtu::Outcome outcome = search.outcome();
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
