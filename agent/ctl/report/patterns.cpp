#include "agent/ctl/report/patterns.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>

#include "agent/base/text.hpp"

namespace pvrdma::ctl::bundle {

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kLongestIpv6 = 45;  // INET6_ADDRSTRLEN without its end

// 0 beyond either end.
char char_at(std::string_view text, std::size_t at) { return at < text.size() ? text[at] : '\0'; }
char char_before(std::string_view text, std::size_t at) { return at > 0 ? text[at - 1] : '\0'; }

std::string hex(const Bytes& bytes, std::size_t in_group, char separator) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    if (n > 0 && separator != '\0' && n % in_group == 0) out += separator;
    out += kDigits[bytes[n] >> 4U];
    out += kDigits[bytes[n] & 0xFU];
  }
  return out;
}
// Digits with or without separators, an even number.
Bytes bytes_of(std::string_view text) {
  std::string digits;
  std::copy_if(text.begin(), text.end(), std::back_inserter(digits), is_hex);
  Bytes bytes;
  for (std::size_t n = 0; n + 1 < digits.size(); n += 2) {
    std::uint8_t byte = 0;
    std::from_chars(&digits[n], &digits[n] + 2, byte, 16);
    bytes.push_back(byte);
  }
  return bytes;
}
bool all(const Bytes& bytes, std::uint8_t value) {
  return std::all_of(bytes.begin(), bytes.end(), [=](std::uint8_t byte) { return byte == value; });
}
std::size_t hex_run(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_hex(text[end])) ++end;
  return end - at;
}

// --- MAC addresses, EUI-64, GUIDs ---

// One made of a MAC has ff:fe in its middle and the MAC's local bit turned over, or not (RFC 4291,
// appendix A). Which of the two it is cannot be told, so MACs that differ in no more are one value,
// with the bit unset.
constexpr std::uint8_t kLocalBit = 2;

Found of_eui64(const Bytes& eui, std::size_t length) {
  if (all(eui, 0) || all(eui, 0xFF)) return {length, Kind::Guid, "", ""};
  if (eui[3] != 0xFF || eui[4] != 0xFE) return {length, Kind::Guid, hex(eui, 2, ':'), ""};
  Bytes mac{eui[0], eui[1], eui[2], eui[5], eui[6], eui[7]};
  mac[0] &= static_cast<std::uint8_t>(~kLocalBit);
  return {length, Kind::Mac, hex(mac, 1, ':'), ""};
}
Found of_mac(Bytes mac, std::size_t length) {
  const bool solicited = mac[0] == 0x33 && mac[2] == 0xFF;  // holds half of a MAC
  if (all(mac, 0) || ((mac[0] & 1U) != 0 && !solicited)) return {length, Kind::Mac, "", ""};
  mac[0] &= static_cast<std::uint8_t>(~kLocalBit);
  return {length, Kind::Mac, hex(mac, 1, ':'), ""};
}

// Six pairs or more: "00:50:56:8a:9f:c2", with dashes as well.
std::optional<Found> pairs_at(std::string_view text, std::size_t at) {
  const char separator = char_at(text, at + 2);
  if (separator != ':' && separator != '-') return std::nullopt;
  std::size_t end = at;
  while (hex_run(text, end) == 2) {
    end += 2;
    if (char_at(text, end) != separator || hex_run(text, end + 1) != 2) break;
    ++end;
  }
  const Bytes bytes = bytes_of(text.substr(at, end - at));
  if (bytes.size() < 6) return std::nullopt;
  if (bytes.size() == 6) return of_mac(bytes, end - at);
  if (bytes.size() == 8) return of_eui64(bytes, end - at);
  return Found{end - at, Kind::Id, all(bytes, 0) ? "" : hex(bytes, 1, ':'), ""};
}

// "0250:56ff:fe8a:9fc2", as sysfs and rdma(8) write GUIDs.
std::optional<Found> guid_at(std::string_view text, std::size_t at) {
  constexpr std::size_t kLength = 19;
  if (char_before(text, at) == ':' || char_at(text, at + kLength) == ':') return std::nullopt;
  for (std::size_t group = 0; group < 4; ++group) {
    if (hex_run(text, at + group * 5) != 4) return std::nullopt;
    if (group < 3 && char_at(text, at + group * 5 + 4) != ':') return std::nullopt;
  }
  return of_eui64(bytes_of(text.substr(at, kLength)), kLength);
}

// --- plain hexadecimal ---

std::optional<Found> uuid_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  for (const std::size_t group : {8U, 4U, 4U, 4U, 12U}) {
    if (hex_run(text, end) != group) return std::nullopt;
    end += group;
    if (group == 12) break;
    if (char_at(text, end) != '-') return std::nullopt;
    ++end;
  }
  const Bytes bytes = bytes_of(text.substr(at, end - at));
  return Found{end - at, Kind::Uuid, all(bytes, 0) ? "" : hex(bytes, 16, '\0'), ""};
}

// A machine-id or GID without colons; a GUID that was made of a MAC; the MAC in enx005056be1234.
std::optional<Found> digits_at(std::string_view text, std::size_t at) {
  const std::size_t length = hex_run(text, at);
  if (length != 12 && length != 16 && length != 32) return std::nullopt;
  const std::string_view before = text.substr(0, at);
  const Bytes bytes = bytes_of(text.substr(at, length));
  if (length == 12) {
    if (before.size() < 3 || before.substr(before.size() - 2) != "nx") return std::nullopt;
    return of_mac(bytes, length);
  }
  if (length == 16)
    return bytes[3] == 0xFF && bytes[4] == 0xFE ? std::optional{of_eui64(bytes, length)}
                                                : std::nullopt;
  return Found{length, Kind::Uuid, all(bytes, 0) ? "" : hex(bytes, 16, '\0'), ""};
}

// --- IP addresses ---

Found of_ipv4(const std::array<std::uint8_t, 4>& bytes, std::size_t length) {
  const std::uint32_t value = (std::uint32_t{bytes[0]} << 24U) | (std::uint32_t{bytes[1]} << 16U) |
                              (std::uint32_t{bytes[2]} << 8U) | bytes[3];
  const bool mask = bytes[0] == 255 && ((~value + 1) & ~value) == 0;  // ones, then zeros
  const bool multicast = (bytes[0] & 0xF0U) == 0xE0;
  if (value == 0 || bytes[0] == 127 || mask || multicast) return {length, Kind::Ipv4, "", ""};
  std::string text;
  for (const std::uint8_t byte : bytes) text += (text.empty() ? "" : ".") + std::to_string(byte);
  return {length, Kind::Ipv4, text, ""};
}

// "driver version 1.7.0.0-k": numbers of a version, unless they are known to be an address.
bool follows_version(std::string_view text, std::size_t at) {
  constexpr std::size_t kFar = 80;  // a version's own beginning and the blanks before it
  std::string_view before = text.substr(at - std::min(at, kFar), std::min(at, kFar));
  before = before.substr(0, before.find_last_not_of("0123456789.") + 1);
  if (!before.empty() && before.back() == 'v') before.remove_suffix(1);
  before = before.substr(0, before.find_last_not_of(" \t:=\"") + 1);
  constexpr std::string_view kWord = "ersion";
  return before.size() >= kWord.size() && before.substr(before.size() - kWord.size()) == kWord;
}

std::optional<Found> ipv4_at(std::string_view text, std::size_t at) {
  std::array<std::uint8_t, 4> bytes{};
  std::size_t end = at;
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    std::size_t digits = 0;
    while (is_digit(char_at(text, end + digits))) ++digits;
    if (digits == 0 || digits > 3) return std::nullopt;
    const auto parsed = std::from_chars(&text[end], &text[end] + digits, bytes[n]);
    if (parsed.ec != std::errc{}) return std::nullopt;
    end += digits;
    if (n < 3 && char_at(text, end++) != '.') return std::nullopt;
  }
  if (follows_version(text, at) && char_at(text, end) != '/') return std::nullopt;
  return of_ipv4(bytes, end - at);
}

Found of_ipv6(const in6_addr& address, std::size_t length) {
  const auto& bytes = address.s6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    Found found = of_ipv4({bytes[12], bytes[13], bytes[14], bytes[15]}, length);
    if (!found.value.empty()) found.before = "::ffff:";
    return found;
  }
  // ff02::1:ff8a:9fc2 holds half of a MAC.
  const bool solicited = bytes[0] == 0xFF && bytes[11] == 1 && bytes[12] == 0xFF;
  const Bytes lower(std::begin(bytes) + 8, std::end(bytes));
  const bool prefix = bytes[0] == 0xFE && (bytes[1] & 0xC0U) == 0x80 && all(lower, 0);
  if (IN6_IS_ADDR_UNSPECIFIED(&address) || IN6_IS_ADDR_LOOPBACK(&address) || prefix ||
      (bytes[0] == 0xFF && !solicited))
    return {length, Kind::Ipv6, "", ""};
  return {length, Kind::Ipv6, hex(Bytes(std::begin(bytes), std::end(bytes)), 2, ':'), ""};
}

// The longest beginning that is an address and is not followed by more of the same.
std::optional<Found> ipv6_at(std::string_view text, std::size_t at) {
  // It may begin with two colons, neither with one nor with three.
  const bool begins =
      char_at(text, at) != ':' || (char_at(text, at + 1) == ':' && char_at(text, at + 2) != ':');
  if (!begins) return std::nullopt;
  std::size_t run = 0;
  while (run < kLongestIpv6 && (is_hex(char_at(text, at + run)) || char_at(text, at + run) == ':' ||
                                char_at(text, at + run) == '.'))
    ++run;
  // A letter before it, as in `std::abs`: then it must be long enough to be none of such names.
  const bool after_word = is_alphanumeric(char_before(text, at));
  for (; run >= 2; --run) {
    const char next = char_at(text, at + run);
    if (is_hex(next) || (next == ':' && is_hex(char_at(text, at + run + 1)))) continue;
    const std::string word{text.substr(at, run)};
    in6_addr address{};
    if (::inet_pton(AF_INET6, word.c_str(), &address) != 1) continue;
    if (after_word && std::count(word.begin(), word.end(), ':') < 3) return std::nullopt;
    return of_ipv6(address, run);
  }
  return std::nullopt;
}

// --- home directories ---

std::optional<Found> home_at(std::string_view text, std::size_t at) {
  constexpr std::string_view kHome = "/home/";
  if (text.substr(at, kHome.size()) != kHome) return std::nullopt;
  const std::size_t begin = at + kHome.size();
  const std::size_t end = std::min(text.find_first_of("/ \t\r\n:;,\"'<>()[]", begin), text.size());
  if (end == begin) return std::nullopt;
  return Found{end - at, Kind::User, std::string{text.substr(begin, end - begin)},
               std::string{kHome}};
}

// --- other spellings ---

std::vector<Spelling> spellings_of_ipv4(const std::string& value) {
  std::vector<Spelling> found;
  for (const char separator : {'.', '-', '_'}) {
    std::string text = value;
    std::replace(text.begin(), text.end(), '.', separator);
    found.push_back({text, Beside::NoDigit});
  }
  Bytes bytes(4);
  ::inet_pton(AF_INET, value.c_str(), bytes.data());
  found.push_back({hex(bytes, 2, ':'), Beside::NoHexDigit});
  found.push_back({hex(bytes, 4, '\0'), Beside::NoHexDigit});
  // As /proc/net has it on a little-endian machine.
  found.push_back({hex(Bytes(bytes.rbegin(), bytes.rend()), 4, '\0'), Beside::NoHexDigit});
  return found;
}

std::vector<Spelling> spellings_of_mac(const std::string& value) {
  std::vector<Spelling> found;
  for (const std::uint8_t local : {std::uint8_t{0}, kLocalBit}) {
    Bytes mac = bytes_of(value);
    mac[0] |= local;
    for (const char separator : {':', '-', '_'}) found.push_back({hex(mac, 1, separator)});
    found.push_back({hex(mac, 6, '\0')});
    found.push_back({hex(mac, 2, '.')});
    const Bytes eui{mac[0], mac[1], mac[2], 0xFF, 0xFE, mac[3], mac[4], mac[5]};
    found.push_back({hex(eui, 2, ':')});
    found.push_back({hex(eui, 8, '\0')});
    // As the end of an address, in which zeros are not written.
    in6_addr address{};
    std::copy(eui.begin(), eui.end(), std::begin(address.s6_addr) + 8);
    std::array<char, INET6_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET6, &address, text.data(), text.size());
    found.push_back({std::string{text.data()}.substr(2)});
  }
  return found;
}

}  // namespace

const char* word_of(Kind kind) {
  switch (kind) {
    case Kind::Ipv4:
      return "ipv4";
    case Kind::Ipv6:
      return "ipv6";
    case Kind::Mac:
      return "mac";
    case Kind::Guid:
      return "guid";
    case Kind::Uuid:
      return "uuid";
    case Kind::Id:
      return "id";
    case Kind::User:
      return "user";
    case Kind::Host:
      return "host";
    case Kind::Secret:
      break;
  }
  return "secret";
}

std::optional<Found> find_at(std::string_view text, std::size_t at) {
  const char first = text[at];
  if (first == '/') return home_at(text, at);
  const char before = char_before(text, at);
  if (is_hex(first) && !is_hex(before)) {
    for (const auto match : {uuid_at, pairs_at, guid_at, digits_at})
      if (auto found = match(text, at)) return found;
  }
  // "0x" before digits makes no difference, but its own 0 is none of them.
  if ((is_hex(first) || first == ':') && !is_hex(before))
    if (auto found = ipv6_at(text, at)) return found;
  if (is_digit(first) && !is_digit(before)) return ipv4_at(text, at);
  return std::nullopt;
}

std::vector<Spelling> spellings(Kind kind, const std::string& value) {
  if (kind == Kind::Ipv4) return spellings_of_ipv4(value);
  if (kind == Kind::Mac) return spellings_of_mac(value);
  if (kind != Kind::Ipv6 && kind != Kind::Uuid) return {};
  const Bytes bytes = bytes_of(value);
  return {{hex(bytes, 16, '\0')}, {hex(bytes, 2, ':')}};
}

}  // namespace pvrdma::ctl::bundle
