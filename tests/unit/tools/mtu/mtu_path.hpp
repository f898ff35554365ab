// SPDX-License-Identifier: GPL-2.0-or-later
// A path to a host as the search for its MTU meets it: links, routers that speak, lie or keep
// silent, and losses. It answers at once; what takes time is a matter of the order of events.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/tools/mtu/search.hpp"

namespace fake {

struct Hop {
  unsigned mtu = 0;  // of the link behind this router
  std::string name;
  bool silent = false;
  // What it says instead of the truth, of a packet of `size`.
  std::function<unsigned(unsigned size)> claim = [](unsigned) { return 0U; };
  bool lies = false;
  bool lets_pass = false;  // complains, and forwards all the same
};

struct Path {
  unsigned floor = pvrdma::ctl::pmtu::kFloorIpv4;
  std::optional<unsigned> link;  // none: whatever can be sent is
  bool link_tells = true;        // its refusal names its MTU
  std::vector<Hop> hops;
  bool answers = true;
  // Whether the `attempt`th probe of this size is lost on its way, there or back.
  std::function<bool(unsigned size, unsigned attempt)> loses = [](unsigned, unsigned) {
    return false;
  };
  bool late = false;  // every answer comes only after the time for it is over

  std::map<unsigned, unsigned> attempts{};  // by size

  [[nodiscard]] unsigned mtu() const;
  // Has the search go all its way. Fails the test where it asks for more than it may.
  pvrdma::ctl::pmtu::Outcome walk();

 private:
  void carry(pvrdma::ctl::pmtu::Search& search, unsigned size);
};

}  // namespace fake
