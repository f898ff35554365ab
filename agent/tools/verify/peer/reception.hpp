// SPDX-License-Identifier: GPL-2.0-or-later
// Greets all connections at once: one that says nothing keeps no other waiting.
//
// Strangers can open connections without end. While kMostAtOnce are greeting, those of a network
// that has opened many make room for newcomers, the oldest first. So a peer in another network
// gets its turn, and one in the same network gets as long as the strangers' newest connections.
#pragma once

#include <sys/socket.h>

#include <optional>
#include <string>
#include <vector>

#include "agent/tools/verify/peer/control.hpp"
#include "agent/tools/verify/peer/greeting.hpp"

namespace pvrdma::verify {

// The bytes of an IPv4 address, or of an IPv6 address's network: a machine may have many addresses
// of one /64.
[[nodiscard]] std::string network_of(const sockaddr_storage& address);

class Reception {
 public:
  struct Guest {
    Control control;
    Json first;                    // its first line after the greeting, if `wants_first`
    std::optional<Error> refused;  // the reason why it was refused, as of greet()
  };

  // `listener` null: only connections from add() come.
  Reception(const Listener* listener, std::string token, bool wants_first)
      : listener_(listener), token_(std::move(token)), wants_first_(wants_first) {}

  // The connection has three seconds from now to greet; less while there is no place for others.
  void add(Control control);
  // Returns the next guest that has greeted or was refused. ETIMEDOUT: the deadline passed, or no
  // guest can come any more. errno of accept(2).
  [[nodiscard]] Result<Guest> next(BootTime deadline);

  static constexpr std::size_t kMostAtOnce = 128;  // others wait in the listener's queue
  // More connections than this from one network count as strangers', as the machines of a mesh have
  // an address each.
  static constexpr std::size_t kManyOfOne = 32;
  // How many the kernel should accept while others are greeted; more must try again.
  static constexpr int kQueue = 256;

 private:
  struct Greeter {
    Control control;
    Greeting greeting;
    BootTime came;
    std::string network;  // where it comes from
  };

  [[nodiscard]] bool is_full() const { return greeters_.size() >= kMostAtOnce; }
  [[nodiscard]] std::vector<Greeter>::const_iterator oldest_of_many() const;
  // Whether a newcomer would find a place.
  [[nodiscard]] bool has_place() const;
  // How long a guest may take to greet.
  [[nodiscard]] Milliseconds patience() const;
  [[nodiscard]] std::optional<Guest> look_at(Greeter& greeter, Milliseconds patience) const;
  [[nodiscard]] std::optional<Guest> look_at_all();
  [[nodiscard]] Result<void> wait(BootTime deadline);

  const Listener* listener_;
  std::string token_;
  bool wants_first_;
  std::vector<Greeter> greeters_;  // in order of arrival
};

}  // namespace pvrdma::verify
