// SPDX-License-Identifier: GPL-2.0-or-later
// The bytes of echo messages, and what is taken for an answer to them.
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>

#include "agent/tools/mtu/echo.hpp"
#include "tests/unit/catch.hpp"

using namespace pvrdma::ctl::pmtu;

namespace {

const Stamp kPing{Family::Ipv4, std::nullopt, 0x0123456789abcdefULL};
const Stamp kRaw{Family::Ipv4, 0xbeef, 0x0123456789abcdefULL};
const Stamp kPing6{Family::Ipv6, std::nullopt, 0x0123456789abcdefULL};

Bytes reply_to(const Stamp& stamp, std::uint16_t sequence, unsigned size) {
  Bytes message = echo_request(stamp, sequence, size);
  message[0] = stamp.family == Family::Ipv4 ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY;
  return message;
}

// RFC 1071: over a message with its checksum in place, the sum is all ones.
unsigned sum(const Bytes& bytes) {
  unsigned long total = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 2)
    total += bytes[at] * 256UL + (at + 1 < bytes.size() ? bytes[at + 1] : 0U);
  while (total > 0xFFFF) total = total % 65536 + total / 65536;
  return static_cast<unsigned>(total);
}

}  // namespace

TEST_CASE("a request fills its packet, and its checksum is right") {
  for (const unsigned size : {28U, 68U, 69U, 1499U, 1500U, 9000U, 65535U}) {
    const Bytes message = echo_request(kRaw, 0x0102, size);
    CHECK(message.size() == size - 20);
    CHECK(message[0] == ICMP_ECHO);
    CHECK((message[4] == 0xbe && message[5] == 0xef));
    CHECK((message[6] == 1 && message[7] == 2));
    CHECK(sum(message) == 0xFFFF);
  }
  CHECK(echo_request(kPing6, 1, 1280).size() == 1240);
  CHECK(echo_request(kPing6, 1, 1280)[0] == ICMP6_ECHO_REQUEST);
}

TEST_CASE("the answer to a probe is known by its sequence number and its data") {
  for (const Stamp& stamp : {kPing, kRaw, kPing6}) {
    CHECK(answered_sequence(stamp, reply_to(stamp, 7, 1500)) == 7);
    CHECK(answered_sequence(stamp, reply_to(stamp, 65535, 1280)) == 65535);
    CHECK_FALSE(answered_sequence(stamp, echo_request(stamp, 7, 1500)));
  }
}

TEST_CASE("what only looks like an answer is none") {
  Bytes message = reply_to(kRaw, 7, 100);
  SECTION("of another sequence number than its data") { message[7] = 8; }
  SECTION("of another process") { message[5] = 0; }
  SECTION("with other data") { message.back() ^= 1U; }
  SECTION("with a code") { message[1] = 1; }
  SECTION("without data") { message.resize(kEchoHeader); }
  SECTION("with hardly any data") { message.resize(kEchoHeader + 7); }
  SECTION("of half a header") { message.resize(4); }
  SECTION("of nothing") { message.clear(); }
  CHECK_FALSE(answered_sequence(kRaw, message));
}

TEST_CASE("another search's answer is none; a shortened one is one") {
  Stamp other = kPing;
  other.secret ^= 1U << 20U;
  CHECK_FALSE(answered_sequence(kPing, reply_to(other, 7, 100)));
  Bytes shortened = reply_to(kPing, 7, 1500);
  shortened.resize(kEchoHeader + 56);
  CHECK(answered_sequence(kPing, shortened) == 7);
}

TEST_CASE("an error quotes the beginning of a probe, perhaps no more than its header") {
  Bytes quoted = echo_request(kRaw, 9, 9000);
  CHECK(quoted_sequence(kRaw, quoted) == 9);
  quoted.resize(kEchoHeader);
  CHECK(quoted_sequence(kRaw, quoted) == 9);
  quoted[4] = 0;
  CHECK_FALSE(quoted_sequence(kRaw, quoted));
  CHECK(quoted_sequence(kPing, quoted) == 9);  // the kernel has looked at the identifier
  quoted[0] = ICMP_ECHOREPLY;
  CHECK_FALSE(quoted_sequence(kPing, quoted));
  quoted.resize(7);
  CHECK_FALSE(quoted_sequence(kPing, quoted));
}

TEST_CASE("the IPv4 header goes, whatever its length; what is no packet gives nothing") {
  const Bytes plain{0x45, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 42};
  REQUIRE(without_ip_header(plain).size() == 1);
  CHECK(without_ip_header(plain)[0] == 42);
  Bytes with_options(24 + 2);
  with_options[0] = 0x46;
  CHECK(without_ip_header(with_options).size() == 2);
  for (const std::uint8_t first : Bytes{0x44, 0x4f, 0x65}) {
    Bytes bad = plain;
    bad[0] = first;
    CHECK(without_ip_header(bad).empty());
  }
  CHECK(without_ip_header({}).empty());
}
