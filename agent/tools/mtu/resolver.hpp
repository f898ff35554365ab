// SPDX-License-Identifier: GPL-2.0-or-later
// Host names to addresses, without holding anybody up.
//
// getaddrinfo(3) blocks, for half a minute where no name server answers, and cannot be called off.
// Each name therefore has a thread of its own, which is left behind when nobody waits any more: it
// owns all it touches.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/tools/mtu/echo.hpp"

namespace pvrdma::ctl::pmtu {

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;  // bytes of `storage` in use
  std::string text;      // numeric, with a scope where it needs one: "fe80::1%ens224f0"

  [[nodiscard]] Family family() const {
    return storage.ss_family == AF_INET6 ? Family::Ipv6 : Family::Ipv4;
  }
  [[nodiscard]] const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// An address as numbers; empty where it is none of IPv4 or IPv6.
[[nodiscard]] std::string in_numbers(const sockaddr* address, socklen_t length);

// Addresses of a host in the order to try them (RFC 6724): one at least.
using Addresses = Result<std::vector<Address>>;

class Resolver {
 public:
  // `family`: AF_UNSPEC, AF_INET or AF_INET6. Fails with errno of eventfd(2).
  [[nodiscard]] static Result<Resolver> make(int family);

  // A question; its answer bears `index`. An address in numbers is answered at once. Throws
  // std::system_error where no thread can be had.
  void ask(std::size_t index, const std::string& host);

  struct Answer {
    std::size_t index = 0;
    Addresses addresses;
  };
  // Readable while there are answers.
  [[nodiscard]] int fd() const;
  [[nodiscard]] std::vector<Answer> take();

 private:
  struct Shared;
  Resolver(int family, std::shared_ptr<Shared> shared);

  int family_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace pvrdma::ctl::pmtu
