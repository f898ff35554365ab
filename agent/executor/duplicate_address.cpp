// SPDX-License-Identifier: GPL-2.0-or-later
// Another host that has an address, by ARP (find_duplicate(), link.hpp).
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if_arp.h>
#include <netinet/ether.h>
#include <netinet/if_ether.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "agent/base/clock.hpp"
#include "agent/base/handle.hpp"
#include "agent/executor/link.hpp"
#include "agent/model/identifiers.hpp"

namespace pvrdma::executor {

namespace {

constexpr int kProbes = 3;
constexpr Milliseconds kProbePause{70};

using Ip = std::array<std::uint8_t, 4>;

ether_arp probe_for(const Ip& address, const MacAddress& own) {
  ether_arp packet{};
  packet.ea_hdr.ar_hrd = htons(ARPHRD_ETHER);
  packet.ea_hdr.ar_pro = htons(ETH_P_IP);
  packet.ea_hdr.ar_hln = ETH_ALEN;
  packet.ea_hdr.ar_pln = sizeof(Ip);
  packet.ea_hdr.ar_op = htons(ARPOP_REQUEST);
  std::copy(own.begin(), own.end(), packet.arp_sha);
  std::copy(address.begin(), address.end(), packet.arp_tpa);
  return packet;  // the sender's IP address is zero, so that no host caches it
}

sockaddr_ll arp_address_on(int index) {
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_protocol = htons(ETH_P_ARP);
  to.sll_ifindex = index;
  to.sll_halen = ETH_ALEN;
  std::fill_n(to.sll_addr, ETH_ALEN, std::uint8_t{0xff});
  return to;
}

Result<Fd> arp_socket(int index) {
  // bind(2) sets the protocol. With a protocol the socket would receive from all interfaces until
  // then, and keep those packets (packet(7)).
  Fd socket{::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const sockaddr_ll here = arp_address_on(index);
  if (!socket || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0)
    return fail(errno, "opening", "a socket for ARP");
  return socket;
}

// Listens for `patience` at most.
std::optional<MacAddress> listen(int socket, const Ip& address, const MacAddress& own,
                                 Milliseconds patience) {
  const BootTime until = BootClock::now() + patience;
  // The clock is asked as well, as packets may come without a pause.
  while (BootClock::now() < until && poll_until(socket, POLLIN, until) == 0) {
    std::array<std::uint8_t, 128> packet{};
    const ssize_t got = ::recv(socket, packet.data(), packet.size(), 0);
    if (got <= 0) continue;
    if (auto other = claimant({packet.data(), static_cast<std::size_t>(got)}, address, own))
      return other;
  }
  return std::nullopt;
}

}  // namespace

std::optional<MacAddress> claimant(std::span<const std::uint8_t> packet, const Ip& address,
                                   const MacAddress& own) {
  ether_arp arp{};
  if (packet.size() < sizeof arp) return std::nullopt;
  std::memcpy(&arp, packet.data(), sizeof arp);
  if (ntohs(arp.ea_hdr.ar_hrd) != ARPHRD_ETHER || ntohs(arp.ea_hdr.ar_pro) != ETH_P_IP ||
      arp.ea_hdr.ar_hln != ETH_ALEN || arp.ea_hdr.ar_pln != sizeof(Ip))
    return std::nullopt;
  MacAddress sender{};
  std::copy_n(arp.arp_sha, sender.size(), sender.begin());
  if (sender == own) return std::nullopt;
  const bool claims = std::equal(address.begin(), address.end(), arp.arp_spa);
  const Ip unset{};
  const bool probes = ntohs(arp.ea_hdr.ar_op) == ARPOP_REQUEST &&
                      std::equal(unset.begin(), unset.end(), arp.arp_spa) &&
                      std::equal(address.begin(), address.end(), arp.arp_tpa);
  return claims || probes ? std::optional{sender} : std::nullopt;
}

Result<std::optional<std::string>> find_duplicate(int index, const std::string& mac,
                                                  const std::string& address) {
  Ip ip{};
  const std::string host = without_prefix(address);
  if (::inet_pton(AF_INET, host.c_str(), ip.data()) != 1)
    return fail(EINVAL, "looking for other users of", address);
  ether_addr parsed{};
  if (::ether_aton_r(mac.c_str(), &parsed) == nullptr)
    return fail(EINVAL, "reading the hardware address", mac);
  const MacAddress own = std::to_array(parsed.ether_addr_octet);
  const auto socket = arp_socket(index);
  if (!socket) return fail(socket.error());
  const ether_arp packet = probe_for(ip, own);
  const sockaddr_ll to = arp_address_on(index);
  for (int sent = 0; sent < kProbes; ++sent) {
    if (::sendto(socket->get(), &packet, sizeof packet, 0, reinterpret_cast<const sockaddr*>(&to),
                 sizeof to) < 0)
      return fail(errno, "looking for other users of", address);
    if (const auto other = listen(socket->get(), ip, own, kProbePause))
      return std::optional{to_text(*other)};
  }
  return std::optional<std::string>{};
}

std::string to_text(const MacAddress& mac) {
  std::array<char, 18> text{};
  std::snprintf(text.data(), text.size(), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
                mac[3], mac[4], mac[5]);
  return text.data();
}

}  // namespace pvrdma::executor
