// What in a text identifies a machine by its form alone: addresses of all kinds, UUIDs, home
// directories. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pvrdma::ctl::bundle {

// Of what stands for one value wherever it is seen; the word is what placeholders begin with.
enum class Kind { Ipv4, Ipv6, Mac, Guid, Uuid, Id, User, Host, Secret };
[[nodiscard]] const char* word_of(Kind kind);

struct Found {
  std::size_t length = 0;  // bytes of the text
  Kind kind = Kind::Id;
  std::string value;   // the same for each spelling; empty: well known, to be left as it is
  std::string before;  // written before the placeholder: "::ffff:", "/home/"
};

// What begins exactly at `at`. An address: four numbers with dots, unless they follow the word
// "version"; whatever inet_pton(3) takes for IPv6, IPv4-mapped ones being the IPv4 address; six or
// more pairs of digits; an EUI-64 that was made of a MAC address is that MAC. Well known are
// loopback, unspecified, multicast and broadcast addresses, network masks, fe80:: and zeros.
[[nodiscard]] std::optional<Found> find_at(std::string_view text, std::size_t at);

// Other ways in which such a value is written and that have no form of their own: an address in
// hexadecimal, a MAC address as it is embedded in names and GIDs. Lower case.
enum class Beside { Anything, NoDigit, NoHexDigit, NoWord };  // what may stand before and after it
struct Spelling {
  std::string text;
  Beside beside = Beside::Anything;
};
[[nodiscard]] std::vector<Spelling> spellings(Kind kind, const std::string& value);

}  // namespace pvrdma::ctl::bundle
