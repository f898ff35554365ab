// SPDX-License-Identifier: GPL-2.0-or-later
// ICMP echo messages of a given packet size: bytes and values, no socket (RFC 792, RFC 4443).
//
// An answer must be as unmistakable as its size is decisive: beside identifier and sequence number
// the data are a pattern of this search's own secret, so that nobody off the path can make one up,
// and an answer to another program's ping is not taken for ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace pvrdma::ctl::pmtu {

enum class Family { Ipv4, Ipv6 };

using Bytes = std::vector<std::uint8_t>;
using View = std::span<const std::uint8_t>;

inline constexpr std::size_t kEchoHeader = 8;  // bytes: type, code, checksum, identifier, sequence

// Bytes of the IP header of a probe: it has no options and no extension headers.
[[nodiscard]] constexpr unsigned ip_header(Family family) {
  return family == Family::Ipv4 ? 20 : 40;
}

// What makes the probes of one search its own.
struct Stamp {
  Family family = Family::Ipv4;
  // A raw socket sees everybody's answers and needs it; a ping socket has its own from the kernel,
  // which also writes it (icmp(7)).
  std::optional<std::uint16_t> identifier;
  std::uint64_t secret = 0;
};

// The ICMP message that makes an IP packet of `packet_size` bytes, at least header and message
// header. The checksum is that of IPv4; for IPv6 the kernel writes it.
[[nodiscard]] Bytes echo_request(const Stamp& stamp, std::uint16_t sequence, unsigned packet_size);

// The sequence number of the probe that this ICMP message answers; none where it answers none of
// ours. An answer with less data than the probe had is one too (some hosts shorten it), as it says
// all the same that the probe arrived; one without the first 8 bytes of data is not.
[[nodiscard]] std::optional<std::uint16_t> answered_sequence(const Stamp& stamp, View message);

// The sequence number of the probe whose beginning an ICMP error quotes, `quoted` being what it
// quotes after the IP header; none where it is none of ours. Routers need not quote any data.
[[nodiscard]] std::optional<std::uint16_t> quoted_sequence(const Stamp& stamp, View quoted);

// The IPv4 packet's data; empty where it is none. Raw IPv4 sockets hand out the header as well.
[[nodiscard]] View without_ip_header(View packet);

}  // namespace pvrdma::ctl::pmtu
