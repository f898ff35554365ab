// SPDX-License-Identifier: GPL-2.0-or-later
// What ping(8) of iputils and ip(8) tell about the way to a host. Both are run in the C locale,
// without this process's environment, and until a deadline at most.
//
// No packet is ever fragmented: ping -M probe, or -M do before iputils 20231222. Of the latter the
// kernel refuses what is larger than a router told it about this path in the last ten minutes
// (ip(7), IP_PMTUDISC_DO), which tracepath(8) of those versions meets as well.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"

namespace pvrdma::ctl {
struct MtuOptions;
}

namespace pvrdma::ctl::pmtu {

enum class Fate {
  Passed,        // a packet was answered
  Refused,       // a router answered "fragmentation needed" or "packet too big"
  TooLargeHere,  // the kernel refused to send it
  Silent,        // no answer
};

// The result of one run of ping.
struct Reply {
  Fate fate = Fate::Silent;
  std::string address;      // of the host, in numbers
  unsigned mtu = 0;         // bytes that a refusal names; 0: none
  std::string router;       // the address of the one that refused
  std::string unreachable;  // "10.0.0.9 says: Destination Host Unreachable"; empty: not told
  unsigned sent = 0;        // packets
};
// Of ping's output. The error: why ping sent nothing, in its own words.
[[nodiscard]] Result<Reply> reply_in(std::string_view output);

// The local end of the route to a host.
struct Link {
  std::string interface;  // empty: not known
  unsigned mtu = 0;       // bytes; 0: not known
};

class Programs {
 public:
  // In `options.folders`. The error says what to install where ping is missing or not that of
  // iputils.
  [[nodiscard]] static Result<Programs> find(const MtuOptions& options);

  // Packets with `payload` bytes after the ICMP header to a name or an address: five in a second,
  // until one is answered, one is refused, or `seconds` are over.
  [[nodiscard]] Result<Reply> ping(const std::string& host, unsigned payload,
                                   unsigned seconds) const;
  [[nodiscard]] Link link(const std::string& address) const;

  // Each program is ended at most half a second after this time.
  BootTime deadline;
  std::string interface {};  // to send by this one only; empty: by the route's

 private:
  explicit Programs(BootTime end, std::string family) : deadline(end), family_(std::move(family)) {}
  [[nodiscard]] Result<std::string> run(std::vector<std::string> words, Milliseconds limit) const;
  // The interface that packets to the address leave by; empty: not known.
  [[nodiscard]] std::string route(const std::string& address) const;
  // Output of ip(8); empty where it fails or is missing.
  [[nodiscard]] std::string ip(std::vector<std::string> words) const;

  std::string family_;  // "-4", "-6", or empty
  std::string ping_, ip_;
  const char* discovery_ = "do";  // the word after ping -M
};

}  // namespace pvrdma::ctl::pmtu
