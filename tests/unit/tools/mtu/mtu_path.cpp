// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/tools/mtu/mtu_path.hpp"

#include <algorithm>

#include "tests/unit/catch.hpp"

namespace fake {

using namespace pvrdma::ctl::pmtu;

unsigned Path::mtu() const {
  unsigned least = link.value_or(kLargestPacket);
  for (const Hop& hop : hops)
    if (!hop.lets_pass) least = std::min(least, hop.mtu);
  return least;
}

void Path::carry(Search& search, unsigned size) {
  if (loses(size, ++attempts[size])) return;
  for (const Hop& hop : hops) {
    if (size <= hop.mtu) continue;
    if (!hop.silent) search.refused(size, {hop.name, hop.lies ? hop.claim(size) : hop.mtu});
    if (!hop.lets_pass) return;
  }
  if (answers) search.answered(size);
}

pvrdma::ctl::pmtu::Outcome Path::walk() {
  Search search{floor};
  for (unsigned step = 0; step < 1000; ++step) {
    const auto probe = search.wanted();
    if (!probe) break;
    REQUIRE(probe->size >= std::min(floor, mtu()));
    REQUIRE(probe->size <= kLargestPacket);
    if (link && probe->size > *link) {
      search.too_large_here(probe->size, link_tells ? link : std::nullopt);
      continue;
    }
    REQUIRE(probe->attempt <= kTriesMost);
    search.sent(probe->size);
    if (late) search.expired();
    carry(search, probe->size);
    search.expired();
  }
  REQUIRE(search.finished());
  REQUIRE_FALSE(search.wanted());
  return search.outcome();
}

}  // namespace fake
