// SPDX-License-Identifier: GPL-2.0-or-later
// The search for the MTU of a path: which packet to send next, and what the answers mean. Pure: no
// socket, no clock. Sizes are those of whole IP packets, in bytes.
//
// What counts as proof:
// - A size passes when a probe of it was answered, however late: that is never taken back.
// - A size is too large when this host refuses to send it, or kTries probes of it stayed without an
//   answer. One lost packet therefore only moves the search down, and the last step, which is
//   repeated so often, finds it out; from then on the search trusts no single silence.
// - A router's "fragmentation needed" is a hint where to look next, never a proof: it costs nothing
//   if it is true, and changes nothing but the number of probes if it is not.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace pvrdma::ctl::pmtu {

inline constexpr unsigned kLargestPacket = 65535;  // what IPv4's length field can say (RFC 791)
inline constexpr unsigned kFloorIpv4 = 68;         // every IPv4 module forwards so much (RFC 791)
inline constexpr unsigned kFloorIpv6 = 1280;       // every IPv6 link carries so much (RFC 8200)
inline constexpr unsigned kUsualMtu = 1500;        // tried first: nearly every path has it
inline constexpr unsigned kTries = 5;              // unanswered probes that make a size too large
inline constexpr unsigned kTriesMost = 9;          // the same where packets are known to get lost
inline constexpr unsigned kPatienceMost = 3;       // of them in a row, before the last step
inline constexpr unsigned kClaimsFollowed = 4;     // so that a lying router cannot lead on for ever
inline constexpr unsigned kProbesMax = 200;        // of one search, whatever happens

// One packet to send.
struct Probe {
  unsigned size = 0;
  unsigned attempt = 0;  // of this size, from 1
  friend bool operator==(const Probe&, const Probe&) = default;
};

// Who keeps larger packets from passing.
enum class Limit {
  LocalLink,     // this host's own link: its MTU is the answer
  Router,        // a router answered a larger packet with "fragmentation needed"
  Silence,       // larger packets vanish, and nobody says why
  LargestPacket  // nothing: IP has no larger packet
};

// "fragmentation needed" (RFC 1191) or "packet too big" (RFC 8201).
struct Claim {
  std::string router;  // its address
  unsigned mtu = 0;    // as it names it; 0: it names none, like routers from before RFC 1191
  friend bool operator==(const Claim&, const Claim&) = default;
};

struct Outcome {
  unsigned mtu = 0;     // the largest size that passed; 0: nothing did
  bool exact = false;   // the next larger one is known not to pass: the search came to its end
  unsigned probes = 0;  // packets sent
  std::optional<unsigned> link_mtu;  // of the link they left by, where this host told
  std::optional<Limit> limit;        // where exact
  std::optional<Claim> claim;        // where the limit is a router
};

class Search {
 public:
  // `floor`: the smallest MTU a path can have, kFloorIpv4 or kFloorIpv6.
  explicit Search(unsigned floor) : floor_(floor) {}

  // What to send next. None: a probe is under way, or finished(). Asks for what no link carries
  // first: the refusal tells the MTU of this host's own link without a packet on it.
  [[nodiscard]] std::optional<Probe> wanted() const;
  // Whether all that can be known is known: outcome() is exact, or nothing ever passed.
  [[nodiscard]] bool finished() const;
  [[nodiscard]] Outcome outcome() const;

  // --- what happened; sizes are those of probes wanted before

  void sent(unsigned size);
  // This host refused to send it (EMSGSIZE), because the link has `link_mtu`, where it says so.
  void too_large_here(unsigned size, std::optional<unsigned> link_mtu);
  // An answer came, also to a probe given up before.
  void answered(unsigned size);
  void refused(unsigned size, const Claim& claim);
  // No answer within the time for the probe under way.
  void expired() { open_.reset(); }

 private:
  struct Failed {
    unsigned tries = 0;
    bool here = false;  // this host refuses it: no try is needed
    std::optional<Claim> claim;
  };

  [[nodiscard]] unsigned choose() const;
  [[nodiscard]] unsigned tries(unsigned size) const;
  // The smallest size above those that pass which failed so far, or one more than the link carries.
  [[nodiscard]] unsigned high() const;
  // Tries that make a size too large, as things are.
  [[nodiscard]] unsigned needed() const;
  [[nodiscard]] bool decided() const;
  [[nodiscard]] Limit limit() const;
  [[nodiscard]] std::optional<Claim> deciding_claim() const;

  unsigned floor_;
  unsigned top_ = kLargestPacket;  // the largest worth a try
  std::optional<unsigned> link_mtu_;
  bool asked_link_ = false;
  unsigned low_ = 0;            // the largest that passed
  unsigned guess_ = kUsualMtu;  // where the boundary may well be: just above this size
  unsigned claims_followed_ = 0;
  unsigned patience_ = 1;              // tries before the search goes on below a size
  std::map<unsigned, Failed> failed_;  // sizes without an answer, among them the one under way
  std::map<unsigned, std::string> routers_;  // who claimed which MTU first
  std::optional<unsigned> open_;             // the size under way
  unsigned probes_ = 0;
};

}  // namespace pvrdma::ctl::pmtu
