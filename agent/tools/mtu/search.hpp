// SPDX-License-Identifier: GPL-2.0-or-later
// The search for the MTU of a path: which size to ask ping for next, and what its replies mean.
// Pure. Sizes are those of whole IP packets, in bytes.
//
// What counts as proof: a size passes when a packet of it was answered. The size above is too large
// when the kernel refuses it, when a router did, or when ping was asked for it twice and heard
// nothing. The MTU that a router names is a hint where to look next.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "agent/tools/mtu/ping.hpp"

namespace pvrdma::ctl::pmtu {

inline constexpr unsigned kLargestPacket = 65535;  // what IPv4's length field can say (RFC 791)
inline constexpr unsigned kLeastMtu = 68;          // every IPv4 module forwards so much (RFC 791)

// What keeps larger packets from passing.
enum class Limit {
  LocalLink,     // this host's own link: its MTU is the answer
  Router,        // a router refused a larger packet, now or earlier: then the kernel remembers it
  Silence,       // larger packets vanish without a word
  LargestPacket  // nothing: IP has no larger packet
};

// "fragmentation needed" (RFC 1191) or "packet too big" (RFC 8201).
struct Claim {
  std::string router;  // its address; empty: not known, as the kernel remembers the MTU alone
  unsigned mtu = 0;    // in its message; 0: none, as of routers from before RFC 1191
  friend bool operator==(const Claim&, const Claim&) = default;
};

struct Outcome {
  unsigned mtu = 0;     // the largest size that passed; 0: nothing did
  bool exact = false;   // the next larger one is known not to pass: the search came to its end
  unsigned probes = 0;  // packets sent
  std::optional<unsigned> link_mtu;  // of the link they left by
  std::optional<Limit> limit;        // where exact
  std::optional<Claim> claim;        // where the limit is a router
};

class Search {
 public:
  // `passed`: bytes of the first packet that was answered, after `sent` ones. `link_mtu` 0: not
  // known.
  Search(unsigned passed, unsigned sent, unsigned link_mtu);

  // The size to ask for next; none: the search is at its end.
  [[nodiscard]] std::optional<unsigned> next() const;
  // Packets get lost, or answers take long: each size deserves more time.
  [[nodiscard]] bool troubled() const { return troubled_; }
  [[nodiscard]] Outcome outcome() const;

  void heard(unsigned size, const Reply& reply);

 private:
  [[nodiscard]] bool decided() const { return low_ >= link_ || high_ == low_ + 1; }

  unsigned low_;                             // the largest that passed
  std::optional<unsigned> link_mtu_;         // none: not known
  unsigned link_;                            // the largest size to try
  unsigned high_;                            // the smallest that failed, or one more than `link_`
  Reply why_{};                              // the reply for `high_`
  unsigned guess_ = 1500;                    // nearly every path has it
  std::map<unsigned, std::string> routers_;  // by the MTU that they named
  std::optional<Claim> latest_{};            // that a router named
  unsigned probes_;
  unsigned asked_ = 0;
  bool troubled_;
  unsigned silences_ = 0;  // of `high_`
};

}  // namespace pvrdma::ctl::pmtu
