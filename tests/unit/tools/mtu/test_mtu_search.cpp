// SPDX-License-Identifier: GPL-2.0-or-later
// The search for a path's MTU against every kind of path: the right answer, and how many packets.
#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "agent/tools/mtu/search.hpp"
#include "tests/unit/catch.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl::pmtu;

namespace {

struct Hop {
  unsigned mtu = 0;    // of the link behind this router
  std::string name{};  // empty: it says nothing of packets that are too large
  int lie = 0;         // what it adds to its MTU
};

// A link, routers, and a kernel that believes them, as ping -M do meets it.
struct Path {
  unsigned link = 9000;
  std::vector<Hop> hops{};
  // Whether the packet of this number, from 1, or its answer is lost.
  std::function<bool(unsigned number)> loses = [](unsigned) { return false; };
  bool names_mtu = true;  // ping tells what the kernel remembers: not that of Debian 13
  unsigned remembered = kLargestPacket;
  unsigned asked = 0, packets = 0;

  Reply ask(unsigned size, bool patiently) {
    ++asked;
    Reply reply;
    if (const unsigned most = std::min(link, remembered); size > most) {
      reply.fate = Fate::TooLargeHere;
      reply.mtu = names_mtu ? most : 0;
      return reply;
    }
    while (reply.fate == Fate::Silent && reply.sent < (patiently ? 10U : 5U)) {
      ++reply.sent;
      if (!loses(++packets)) forward(size, reply);
    }
    return reply;
  }
  void forward(unsigned size, Reply& reply) {
    for (const Hop& hop : hops) {
      if (size <= hop.mtu) continue;
      if (hop.name.empty()) return;
      reply.fate = Fate::Refused;
      reply.router = hop.name;
      reply.mtu = static_cast<unsigned>(static_cast<int>(hop.mtu) + hop.lie);
      remembered = std::min(remembered, reply.mtu);
      return;
    }
    reply.fate = Fate::Passed;
  }
};

Search searched(Path& path, unsigned link_mtu) {
  Search search{kLeastMtu, 1, link_mtu};
  path.packets = 1;
  while (const auto size = search.next()) {
    REQUIRE(*size > kLeastMtu);
    REQUIRE(*size <= kLargestPacket);
    search.heard(*size, path.ask(*size, search.troubled()));
  }
  return search;
}
ctl::pmtu::Outcome walk(Path& path) { return searched(path, path.link).outcome(); }

}  // namespace

TEST_CASE("how many packets the usual paths take, and who limits them") {
  struct Row {
    std::string name;
    Path path;
    unsigned mtu, asked, packets;
    Limit limit;
  };
  const std::vector<Row> table{
      {"plain 1500", {1500}, 1500, 1, 2, Limit::LocalLink},
      {"plain 9000", {9000}, 9000, 2, 3, Limit::LocalLink},
      {"small link", {1400}, 1400, 1, 2, Limit::LocalLink},
      {"a router says 1500", {9000, {{1500, "r1"}}}, 1500, 3, 3, Limit::Router},
      {"then another 1280", {9000, {{1500, "r1"}, {1280, "r2"}}}, 1280, 3, 3, Limit::Router},
      {"no router says 1500", {9000, {{1500}}}, 1500, 4, 17, Limit::Silence},
      {"no router says 1504", {9000, {{1504}}}, 1504, 17, 74, Limit::Silence},
      {"loopback", {65536}, 65535, 2, 3, Limit::LargestPacket},
  };
  for (auto [name, path, mtu, asked, packets, limit] : table) {
    INFO(name);
    const ctl::pmtu::Outcome outcome = walk(path);
    CHECK(outcome.exact);
    CHECK(outcome.mtu == mtu);
    CHECK(path.asked == asked);
    CHECK(outcome.probes == packets);
    CHECK(outcome.limit == limit);
    CHECK(outcome.link_mtu == path.link);
  }
}

TEST_CASE("every MTU behind a link of 9000: ping is asked at most 19 times") {
  for (const std::string router : {"", "r1"})
    for (const bool names_mtu : {true, false})
      for (unsigned mtu = kLeastMtu; mtu < 9000; ++mtu) {
        Path path{9000, {{mtu, router}}};
        path.names_mtu = names_mtu;
        const ctl::pmtu::Outcome outcome = walk(path);
        if (outcome.mtu != mtu || path.asked > (router.empty() || !names_mtu ? 19 : 5))
          FAIL("of " << mtu << " came " << outcome.mtu << " after " << path.asked);
        const auto claim = router.empty() ? std::nullopt : std::optional{Claim{"r1", mtu}};
        REQUIRE(outcome.claim == claim);
      }
}

TEST_CASE("any link and any path up to the largest packet, also where the link is not known") {
  std::mt19937 chance{1};
  for (int round = 0; round < 5000; ++round) {
    const unsigned link = std::uniform_int_distribution{kLeastMtu + 1, kLargestPacket}(chance);
    const unsigned mtu = std::uniform_int_distribution{kLeastMtu, link}(chance);
    for (const unsigned told : {link, 0U}) {
      Path path{link, {{mtu}}};
      const ctl::pmtu::Outcome outcome = searched(path, told).outcome();
      if (outcome.mtu != mtu || !outcome.exact || path.asked > 23)
        FAIL("link " << link << ": of " << mtu << " came " << outcome.mtu << " after "
                     << path.asked);
    }
  }
}

TEST_CASE(
    "a router that names a wrong MTU: what passed before stays, else the kernel believes it") {
  Path lied{9000, {{1500, "r1", -100}}};
  ctl::pmtu::Outcome outcome = walk(lied);
  CHECK(outcome.mtu == 1500);
  CHECK(outcome.claim == Claim{"r1", 1400});
  outcome = walk(lied);
  CHECK(outcome.mtu == 1400);
  CHECK(outcome.claim == Claim{"", 1400});
  Path too_much{9000, {{1600, "r1", 300}}};
  CHECK(walk(too_much).mtu == 1600);
}

TEST_CASE("what the kernel remembers limits the answer, by a router without a name") {
  for (const bool names_mtu : {true, false}) {
    Path path{9000};
    path.remembered = 1500;
    path.names_mtu = names_mtu;
    const ctl::pmtu::Outcome outcome = walk(path);
    CHECK(outcome.mtu == 1500);
    CHECK(outcome.limit == Limit::Router);
    CHECK(outcome.claim == Claim{"", names_mtu ? 1500U : 0U});
  }
}

TEST_CASE("losses do not lower the answer") {
  for (const unsigned mtu : {1280U, 1500U, 4444U, 9000U})
    for (const std::string router : {"", "r1"})
      for (unsigned every = 2; every <= 9; ++every) {
        Path path{9000, {{mtu, router}}};
        path.loses = [&](unsigned number) { return number % every == 0 || number % 5 == 1; };
        CHECK(walk(path).mtu == mtu);
      }
  // A burst that swallows all five packets of a size is found out at the end.
  for (unsigned start = 2; start < 60; ++start) {
    Path path{9000, {{4444}}};
    path.loses = [&](unsigned number) { return number >= start && number < start + 6; };
    CHECK(walk(path).mtu == 4444);
  }
}
