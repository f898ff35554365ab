// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/executor/link.hpp"

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
#include "agent/base/text.hpp"
#include "agent/model/identifiers.hpp"
#include "probes/pci.hpp"

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

// vmxnet3 has carrier within milliseconds after its link comes up, if it has any.
constexpr Milliseconds kCarrierPatience{2000};

bool is_recorded(const AddressRecords& records, const std::string& mac,
                 const std::string& address) {
  return std::any_of(records.begin(), records.end(), [&](const probes::RecordedAddress& entry) {
    return entry.mac == mac && entry.address == address;
  });
}

void forget(AddressRecords& records, const std::string& mac, const std::string& address) {
  std::erase_if(records, [&](const probes::RecordedAddress& entry) {
    return entry.mac == mac && entry.address == address;
  });
}

// None: the address may be set.
std::optional<OperationResult> refuse_duplicate(RouteSocket& socket, const Netdev& link,
                                                const std::string& address) {
  const auto carrier = socket.await_carrier(link.index, kCarrierPatience);
  if (!carrier) return failed(carrier.error());
  if (!*carrier)
    return failed({ENETDOWN, "looking for other users of " + address + " on", link.name});
  const auto other = find_duplicate(link.index, link.mac, address);
  if (!other) return failed(other.error());
  if (!*other) return std::nullopt;
  return OperationResult{
      Outcome::Failed, address + " is not set: " + **other + " has it already", EADDRINUSE, {}};
}

// Adds an address that is not on the link and is in the records.
OperationResult add_recorded(RouteSocket& socket, const Netdev& link, const std::string& address) {
  const auto added = socket.add_address(link.index, address);
  if (!added) return failed(added.error());
  return *added ? done() : already_done(address + " is there");
}

// Adds an address that is not on the link.
OperationResult add(RouteSocket& socket, const Netdev& link, const std::string& address,
                    AddressRecords& records, const SaveRecords& save) {
  if (is_recorded(records, lasting_mac(link), address)) return add_recorded(socket, link, address);
  if (!is_ipv6(address))
    if (auto refused = refuse_duplicate(socket, link, address)) return std::move(*refused);
  records.push_back({lasting_mac(link), address, false});
  const auto saved = save(records);
  if (!saved) {
    records.pop_back();
    return failed(
        {saved.error().code, address + " is not set: " + saved.error().doing, saved.error().what});
  }
  OperationResult result = add_recorded(socket, link, address);
  if (result.outcome == Outcome::Done) return result;
  records.pop_back();
  // The save may fail: a record without an address has no effect, unless another program sets that
  // address.
  static_cast<void>(save(records));
  return result;
}

// Records whether the kernel has kept the mark of the addresses that were just set.
void note_marks(const std::vector<LinkAddress>& now, const std::string& mac,
                AddressRecords& records) {
  for (probes::RecordedAddress& entry : records) {
    const LinkAddress* address = entry.mac == mac ? find_address(now, entry.address) : nullptr;
    if (address != nullptr) entry.marked = address->ours;
  }
}

// True for an address that this agent has set and the configuration no longer names.
bool is_obsolete(const LinkAddress& address, const LinkSettings& settings) {
  return address.ours && !contains(settings.configured, address.text);
}

bool is_dropped(const LinkAddress& address, const LinkSettings& settings) {
  return settings.removes && is_obsolete(address, settings);
}

// True for an address to be added that is on the link as a duplicate, so that it is useless: the
// kernel checks for duplicates only when an address is new.
bool is_to_be_renewed(const LinkAddress& address, const LinkSettings& settings) {
  return address.ours && address.duplicate && contains(settings.addresses, address.text);
}

// The address on the link that must be removed before `address` is set: the same with another
// prefix length (awaits_removal(), agent/plan/link_rule.cpp, has the reason). Null: none.
const LinkAddress* obstacle(const std::vector<LinkAddress>& present, const std::string& address,
                            const LinkSettings& settings) {
  const auto found = std::find_if(present.begin(), present.end(), [&](const LinkAddress& other) {
    return without_prefix(other.text) == without_prefix(address) &&
           (is_ipv6(address) || is_obsolete(other, settings));
  });
  return found == present.end() ? nullptr : &*found;
}

Alone begin_alone(const LinkSettings& settings) {
  return settings.alone ? settings.alone() : Alone{};
}

// The part of configure_link() for addresses; the link must be up. If one address fails, the others
// are still set.
OperationResult configure_addresses(RouteSocket& socket, const Netdev& link,
                                    const LinkSettings& settings, AddressRecords& records,
                                    const SaveRecords& save) {
  auto now = socket.addresses(link.index);
  if (!now) return failed(now.error());
  probes::claim_unmarked(records, lasting_mac(link), *now);
  OperationResult result = already_done({});
  const auto take = [&](OperationResult part) {
    if (!part.good() && result.good())
      result = std::move(part);
    else if (part.outcome == Outcome::Done && result.good())
      result = done();
  };
  std::optional<OperationResult> kept;
  std::vector<LinkAddress> present;  // after the removals
  std::optional<Alone> alone;
  for (const LinkAddress& address : *now) {
    const bool renewed = is_to_be_renewed(address, settings);
    present.push_back(address);
    if (!renewed && !is_dropped(address, settings)) continue;
    if (!alone) alone = begin_alone(settings);
    if (alone->refused) {
      kept = alone->refused;
      kept->detail = address.text + " stays on " + link.name + ": " + kept->detail;
      continue;
    }
    const auto removed = socket.remove_address(link.index, address.text);
    if (removed) present.pop_back();
    if (removed && !renewed) forget(records, lasting_mac(link), address.text);
    take(removed ? done() : failed(removed.error()));
  }
  alone.reset();  // adding takes longer, and harms no process
  bool added = false;
  for (const std::string& address : settings.addresses) {
    if (find_address(present, address) != nullptr) continue;
    if (const LinkAddress* other = obstacle(present, address, settings)) {
      if (!kept)
        take({Outcome::Failed,
              address + " is not set: " + link.name + " has " + other->text,
              EEXIST,
              {}});
      continue;
    }
    OperationResult part = add(socket, link, address, records, save);
    added = added || part.outcome == Outcome::Done;
    take(std::move(part));
  }
  if (!added) return kept && result.outcome == Outcome::AlreadyDone ? std::move(*kept) : result;
  if (const auto after = socket.addresses(link.index))
    note_marks(*after, lasting_mac(link), records);
  return result;
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

Result<int> interface_of(const Root& root, const std::string& net_function,
                         const std::string& netdev) {
  const auto path = probes::function_path(root, net_function) / "net" / netdev / "ifindex";
  const auto text = read_attribute(path);
  if (!text) return fail(text.error());
  const auto index = number_from<int>(*text);
  if (!index || *index <= 0) return fail(EBADMSG, "reading", path);
  return *index;
}

OperationResult configure_link(RouteSocket& socket, int index, const LinkSettings& settings,
                               AddressRecords& records, const SaveRecords& save) {
  const auto link = socket.link(index);
  if (!link) return failed(link.error());
  bool changed = false;
  if (settings.mtu && *settings.mtu != link->mtu) {
    Alone alone = link->link_up ? begin_alone(settings) : Alone{};
    if (alone.refused) return std::move(*alone.refused);
    if (auto set = socket.set_mtu(index, *settings.mtu); !set) return failed(set.error());
    changed = true;
  }
  if (!link->link_up) {
    if (auto set = socket.bring_up(index); !set) return failed(set.error());
    changed = true;
  }
  OperationResult addresses = configure_addresses(socket, *link, settings, records, save);
  if (addresses.outcome == Outcome::Failed || (!changed && !addresses.good())) return addresses;
  if (changed || addresses.outcome == Outcome::Done) return done();
  return already_done(link->name + " is up and as configured");
}

}  // namespace pvrdma::executor
