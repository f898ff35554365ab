// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/mtu/echo.hpp"

#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>

#include <algorithm>
#include <random>

namespace pvrdma::ctl::pmtu {

namespace {

constexpr std::size_t kLeastData = 8;

std::uint8_t request_type(Family family) {
  return family == Family::Ipv4 ? ICMP_ECHO : ICMP6_ECHO_REQUEST;
}
std::uint8_t reply_type(Family family) {
  return family == Family::Ipv4 ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY;
}

void put16(Bytes& bytes, std::size_t at, std::uint16_t value) {
  bytes[at] = static_cast<std::uint8_t>(value >> 8U);
  bytes[at + 1] = static_cast<std::uint8_t>(value & 0xFFU);
}
std::uint16_t get16(View bytes, std::size_t at) {
  return static_cast<std::uint16_t>((bytes[at] << 8U) | bytes[at + 1]);
}

// Bytes that no link can compress: a packet that shrinks under way would pass where others do not.
void fill(std::span<std::uint8_t> data, std::uint64_t secret, std::uint16_t sequence) {
  std::mt19937_64 pattern{secret ^ sequence};
  std::uint64_t word = 0;
  for (std::size_t at = 0; at < data.size(); ++at) {
    word = at % 8 == 0 ? pattern() : word >> 8U;
    data[at] = static_cast<std::uint8_t>(word & 0xFFU);
  }
}

// RFC 1071
std::uint16_t checksum(View bytes) {
  std::uint32_t sum = 0;
  for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) sum += get16(bytes, at);
  if (bytes.size() % 2 == 1) sum += static_cast<std::uint32_t>(bytes.back() << 8U);
  while (sum > 0xFFFF) sum = (sum & 0xFFFFU) + (sum >> 16U);
  return static_cast<std::uint16_t>(~sum & 0xFFFFU);
}

// Of an echo message with this type and our identifier.
std::optional<std::uint16_t> sequence_of(const Stamp& stamp, std::uint8_t type, View message) {
  if (message.size() < kEchoHeader || message[0] != type || message[1] != 0) return std::nullopt;
  if (stamp.identifier && get16(message, 4) != *stamp.identifier) return std::nullopt;
  return get16(message, 6);
}

}  // namespace

Bytes echo_request(const Stamp& stamp, std::uint16_t sequence, unsigned packet_size) {
  Bytes message(std::max<std::size_t>(packet_size - ip_header(stamp.family), kEchoHeader));
  message[0] = request_type(stamp.family);
  put16(message, 4, stamp.identifier.value_or(0));
  put16(message, 6, sequence);
  fill(std::span{message}.subspan(kEchoHeader), stamp.secret, sequence);
  if (stamp.family == Family::Ipv4) put16(message, 2, checksum(message));
  return message;
}

std::optional<std::uint16_t> answered_sequence(const Stamp& stamp, View message) {
  const auto sequence = sequence_of(stamp, reply_type(stamp.family), message);
  if (!sequence || message.size() < kEchoHeader + kLeastData) return std::nullopt;
  const View data = message.subspan(kEchoHeader);
  Bytes expected(data.size());
  fill(expected, stamp.secret, *sequence);
  return std::equal(data.begin(), data.end(), expected.begin()) ? sequence : std::nullopt;
}

std::optional<std::uint16_t> quoted_sequence(const Stamp& stamp, View quoted) {
  return sequence_of(stamp, request_type(stamp.family), quoted);
}

View without_ip_header(View packet) {
  if (packet.empty() || packet[0] >> 4U != 4) return {};
  const std::size_t header = (packet[0] & 0x0FU) * std::size_t{4};
  return header >= 20 && header <= packet.size() ? packet.subspan(header) : View{};
}

}  // namespace pvrdma::ctl::pmtu
