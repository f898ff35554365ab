// Whether paths carry packets of the size that is expected of them, and where to look where large
// ones vanish. Pure.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "agent/tools/mtu/measurement.hpp"

namespace pvrdma::ctl::pmtu {

enum class Carries { Yes, No, Unknown };

// A packet of that size that passed is proof, also where the search did not come to its end.
[[nodiscard]] Carries carries(const Measurement& one, unsigned bytes);
// All paths: No as soon as one does not; Yes only where each is known to.
[[nodiscard]] Carries carries(const std::vector<Measurement>& all, unsigned bytes);
// "yes", "no", "unknown"
[[nodiscard]] const char* to_string(Carries carries);

// An MTU that may be too small for packets that vanish without a word.
struct Place {
  const char* where;
  const char* how;  // to look at it
};
// From the guest outwards, as the guides have it.
inline constexpr std::array<Place, 4> kPlaces{{
    {"both guests' interfaces", "ip link show"},
    {"distributed switch", "vSphere Client: distributed switch > Configure > Properties > MTU"},
    {"physical switches", "MTU of each port and VLAN between the hosts"},
    {"vmknics of both hosts",
     "vSphere Client: Host > Configure > VMkernel adapters; esxcli network ip interface list"},
}};
// Whether larger packets vanish on the way, and nobody says why.
[[nodiscard]] bool vanishes(const Measurement& one);

}  // namespace pvrdma::ctl::pmtu
