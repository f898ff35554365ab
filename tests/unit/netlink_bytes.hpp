// SPDX-License-Identifier: GPL-2.0-or-later
// The bytes of a netlink datagram, and the sequence number that tests use.
#pragma once

#include <linux/netlink.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace pvrdma::test {

// Aligned like a socket's buffer.
class Bytes {
 public:
  explicit Bytes(const std::string& content)
      : words_((content.size() + 3) / 4), size_(content.size()) {
    if (!content.empty()) std::memcpy(words_.data(), content.data(), content.size());
  }
  [[nodiscard]] std::span<char> span() { return {reinterpret_cast<char*>(words_.data()), size_}; }
  [[nodiscard]] nlmsghdr& message() { return *reinterpret_cast<nlmsghdr*>(words_.data()); }

 private:
  std::vector<std::uint32_t> words_;
  std::size_t size_;
};

// The sequence number of the request that all of them answer.
inline constexpr std::uint32_t kSequence = 7;

}  // namespace pvrdma::test
