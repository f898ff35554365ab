// SPDX-License-Identifier: GPL-2.0-or-later
// Datagrams recorded in a guest (Linux 6.1), as hexadecimal text in tests/fixtures/netlink: one
// datagram a line.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "agent/base/netlink.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/netlink_bytes.hpp"
#include "tests/unit/places.hpp"

namespace pvrdma::test {

inline std::vector<std::string> captured(const std::string& name) {
  std::ifstream file{std::string{places::fixtures} + "/netlink/" + name + ".hex"};
  REQUIRE(file);
  std::vector<std::string> datagrams;
  for (std::string line; std::getline(file, line);) {
    std::string bytes;
    for (std::size_t at = 0; at + 1 < line.size(); at += 2)
      bytes += static_cast<char>(std::stoi(line.substr(at, 2), nullptr, 16));
    datagrams.push_back(bytes);
  }
  return datagrams;
}

// Everything that `parse` reads from a recorded answer; the answer must end correctly.
template <typename Parse>
auto parsed_answer(const std::string& name, Parse parse) {
  std::vector<typename decltype(parse(std::declval<nlmsghdr&>()))::value_type> values;
  const OnMessage take = [&](nlmsghdr& message) {
    return parse(message).map([&](auto value) { values.push_back(std::move(value)); });
  };
  AnswerReader reader{kSequence, take};
  bool ended = false;
  for (const std::string& datagram : captured(name)) {
    CHECK_FALSE(ended);
    Bytes bytes{datagram};
    const auto read = reader.read(bytes.span());
    REQUIRE(read);
    ended = *read;
  }
  CHECK(ended);
  CHECK(reader.verdict().has_value());
  return values;
}

// Parses the first message of a recorded answer, cut at every length and with every byte changed:
// nothing outside the message may be read (the address sanitizer checks).
template <typename Parse>
void survive_mutations(const std::string& name, Parse parse) {
  const std::string whole = captured(name).at(0);
  for (std::size_t length = sizeof(nlmsghdr); length < whole.size(); ++length) {
    Bytes bytes{whole.substr(0, length)};
    bytes.message().nlmsg_len = static_cast<std::uint32_t>(length);
    static_cast<void>(parse(bytes.message()));
  }
  for (std::size_t at = sizeof(std::uint32_t); at < whole.size(); ++at)
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ change);
      Bytes bytes{changed};
      static_cast<void>(parse(bytes.message()));
    }
}

}  // namespace pvrdma::test
