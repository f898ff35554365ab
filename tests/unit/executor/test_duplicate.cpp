// SPDX-License-Identifier: GPL-2.0-or-later
// ARP packets and what they tell about an address; test_link_addresses runs the real probes.
#include <algorithm>
#include <vector>

#include "agent/executor/link.hpp"
#include "tests/unit/catch.hpp"

namespace pvrdma::executor {

namespace {

using Ip = std::array<std::uint8_t, 4>;
using Bytes = std::vector<std::uint8_t>;

constexpr Ip kWanted{192, 168, 30, 201};
constexpr Ip kElse{192, 168, 30, 9};
constexpr Ip kNobody{};
constexpr MacAddress kOwn{0, 0x50, 0x56, 0, 0, 1};
constexpr MacAddress kOther{0, 0x50, 0x56, 0, 0, 2};

Bytes arp(std::uint8_t operation, const MacAddress& sender, const Ip& from, const Ip& to) {
  Bytes packet{0, 1, 8, 0, 6, 4, 0, operation};
  packet.insert(packet.end(), sender.begin(), sender.end());
  packet.insert(packet.end(), from.begin(), from.end());
  packet.insert(packet.end(), 6, 0);
  packet.insert(packet.end(), to.begin(), to.end());
  return packet;
}
auto ask(const Bytes& packet) { return claimant(packet, kWanted, kOwn); }

}  // namespace

TEST_CASE("duplicate: packets that claim an address") {
  CHECK(ask(arp(2, kOther, kWanted, kNobody)) == kOther);  // an answer
  CHECK(ask(arp(1, kOther, kWanted, kElse)) == kOther);    // a question from that address
  CHECK(ask(arp(1, kOther, kNobody, kWanted)) == kOther);  // a probe for it at the same time
  CHECK(ask(arp(1, kOther, kElse, kWanted)) == std::nullopt);
  CHECK(ask(arp(2, kOther, kNobody, kWanted)) == std::nullopt);
  CHECK(ask(arp(2, kOther, kElse, kElse)) == std::nullopt);
  CHECK(ask(arp(2, kOwn, kWanted, kNobody)) == std::nullopt);
  CHECK(ask(arp(1, kOwn, kNobody, kWanted)) == std::nullopt);
}

TEST_CASE("duplicate: packets that are no ARP for IPv4") {
  const Bytes good = arp(2, kOther, kWanted, kNobody);
  for (const std::size_t length : {0U, 1U, 27U}) {
    const Bytes shorter(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length));
    CHECK(ask(shorter) == std::nullopt);
  }
  for (const std::size_t at : {0U, 1U, 2U, 3U, 4U, 5U}) {
    Bytes bad = good;
    bad[at] ^= 0x10;
    CHECK(ask(bad) == std::nullopt);
  }
  Bytes padded = good;
  padded.resize(46);
  CHECK(ask(padded) == kOther);
  CHECK(to_text(kOther) == "00:50:56:00:00:02");
}

}  // namespace pvrdma::executor
