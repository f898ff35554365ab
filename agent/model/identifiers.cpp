// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/model/identifiers.hpp"

#include <arpa/inet.h>
#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "agent/base/text.hpp"

namespace pvrdma {

namespace {

constexpr std::size_t kModuleNameMax = 55;

bool is_module_char(char c) { return is_alphanumeric(c) || c == '_' || c == '-'; }
bool is_control_or_blank(char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; }

using Bytes = std::array<std::uint8_t, 16>;

tl::unexpected<Error> broken(const std::string& rule) {
  return fail(EINVAL, "reading an address", rule);
}

bool bit(const Bytes& bytes, unsigned index) {
  return ((bytes[index / 8] >> (7 - index % 8)) & 1U) != 0;
}

// All bits from `first` up to `end` have this value.
bool all_bits(const Bytes& bytes, unsigned first, unsigned end, bool value) {
  for (unsigned i = first; i < end; ++i)
    if (bit(bytes, i) != value) return false;
  return true;
}

// The rule an IPv4 address breaks, or null.
const char* broken_ipv4_rule(const InterfaceAddress& address) {
  const unsigned first = address.bytes[0];
  if (first == 0) return "must not be of 0.0.0.0/8, which is no host's address";
  if (first == 127) return "must not be a loopback address";
  if (first >= 224 && first < 240) return "must not be a multicast address";
  if (all_bits(address.bytes, 0, 32, true)) return "must not be a broadcast address";
  // A /31 has two hosts and no network or broadcast address (RFC 3021), a /32 has one.
  if (address.prefix > 30) return nullptr;
  if (all_bits(address.bytes, address.prefix, 32, false))
    return "must be a host's address, not that of the network";
  if (all_bits(address.bytes, address.prefix, 32, true))
    return "must be a host's address, not the broadcast address";
  return nullptr;
}

const char* broken_ipv6_rule(const InterfaceAddress& address) {
  const Bytes& bytes = address.bytes;
  if (bytes[0] == 0xff) return "must not be a multicast address";
  if (all_bits(bytes, 0, 128, false)) return "must not be the unspecified address";
  if (all_bits(bytes, 0, 127, false)) return "must not be a loopback address";
  if (all_bits(bytes, 0, 80, false) && all_bits(bytes, 80, 96, true))
    return "must not be an IPv4 address written as IPv6";
  return nullptr;
}

std::optional<unsigned> prefix_from(std::string_view text, unsigned longest) {
  const auto prefix = number_from<unsigned>(text);
  return prefix && *prefix >= 1 && *prefix <= longest ? prefix : std::nullopt;
}

}  // namespace

std::optional<std::string> module_name(std::string_view text) {
  if (text.empty() || text.size() > kModuleNameMax ||
      !std::all_of(text.begin(), text.end(), is_module_char))
    return std::nullopt;
  std::string name{text};
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::optional<std::string> mac_address(std::string_view text) {
  if (!has_form(text, "xx:xx:xx:xx:xx:xx")) return std::nullopt;
  return lower(text);
}

std::optional<std::string> pci_address(std::string_view text) {
  const std::string address = (text.size() == 7 ? "0000:" : "") + lower(text);
  if (!has_form(address, "xxxx:xx:xx.x")) return std::nullopt;
  unsigned device = 0;
  std::from_chars(address.data() + 8, address.data() + 10, device, 16);
  const char function = address.back();
  if (device > 0x1f || function > '7') return std::nullopt;
  return address;
}

std::optional<std::string> netdev_name(std::string_view text) {
  const bool good = !text.empty() && text.size() < IFNAMSIZ && text != "." && text != ".." &&
                    std::none_of(text.begin(), text.end(), [](char c) {
                      return c == '/' || c == ':' || is_control_or_blank(c);
                    });
  return good ? std::optional{std::string{text}} : std::nullopt;
}

Result<InterfaceAddress> parse_interface_address(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string host{text.substr(0, slash)};
  InterfaceAddress address;
  address.is_ipv6 = pvrdma::is_ipv6(host);
  const int family = address.is_ipv6 ? AF_INET6 : AF_INET;
  // inet_pton(3) takes a C string: it would ignore the bytes after a NUL.
  if (slash == std::string_view::npos || host.find('\0') != std::string::npos ||
      ::inet_pton(family, host.c_str(), address.bytes.data()) != 1)
    return broken(
        "must be an IPv4 or IPv6 address with its prefix length, such as \"192.168.30.201/24\"");
  const unsigned longest = address.is_ipv6 ? 128 : 32;
  const auto prefix = prefix_from(text.substr(slash + 1), longest);
  if (!prefix) return broken("must have a prefix length from 1 to " + std::to_string(longest));
  address.prefix = *prefix;
  if (const char* rule = address.is_ipv6 ? broken_ipv6_rule(address) : broken_ipv4_rule(address))
    return broken(rule);
  std::array<char, INET6_ADDRSTRLEN> normal{};
  ::inet_ntop(family, address.bytes.data(), normal.data(), normal.size());
  address.text = std::string{normal.data()} + "/" + std::to_string(address.prefix);
  return address;
}

bool is_ipv6(std::string_view address) { return address.find(':') != std::string_view::npos; }

std::string without_prefix(const std::string& address) {
  return address.substr(0, address.find('/'));
}

bool is_link_local(std::string_view address) {
  return address.starts_with("fe80:") || address.starts_with("169.254.");
}

bool share_subnet(const InterfaceAddress& one, const InterfaceAddress& other) {
  if (one.is_ipv6 != other.is_ipv6) return false;
  const bool link_local = one.bytes[0] == 0xfe && (one.bytes[1] & 0xc0U) == 0x80;
  if (one.is_ipv6 && link_local) return false;
  const unsigned bits = std::min(one.prefix, other.prefix);
  for (unsigned i = 0; i < bits; ++i)
    if (bit(one.bytes, i) != bit(other.bytes, i)) return false;
  return true;
}

}  // namespace pvrdma
