// SPDX-License-Identifier: GPL-2.0-or-later
// What the agent knows, in the formats of container engines, Kubernetes and vSphere. Pure.
//
// The readers of these texts are privileged, and what is in them comes from a process that is not:
// a name that does not look like a device's is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "agent/base/clock.hpp"
#include "agent/model/health.hpp"

namespace pvrdma::exports {

// Container Device Interface, SPEC.md of github.com/cncf-tags/container-device-interface, version
// 0.5.0, as podman 4.3 knows no later one. A device for each adapter, named by its function, and
// "all". Paths, no device numbers: an engine takes the node's own when a container starts, while
// the numbers change with a reload of the driver. None: no adapter has a device node.
inline constexpr const char* kCdiKind = "pvrdma.io/adapter";
// `connection_manager`: there is /dev/infiniband/rdma_cm.
[[nodiscard]] std::optional<std::string> cdi(const Health& health, bool connection_manager);

// A feature file of Node Feature Discovery (its documentation, "Custom and local features"):
// labels pvrdma.io/… that lapse `lifetime` after `now`.
[[nodiscard]] std::string node_features(const Health& health, const Moment& now,
                                        Milliseconds lifetime);

// The verdict as one JSON object on one line for a guestinfo variable; as appInfo of open-vm-tools,
// it has version, updateCounter and publishTime.
inline constexpr std::size_t kGuestinfoLimitBytes = 4096;
struct Edition {
  std::string boot_id;        // sd-id128(3), 32 hexadecimal digits
  std::uint64_t counter = 1;  // of those that this process published
  Moment now;
};
// At most kGuestinfoLimitBytes: adapters and findings that do not fit are counted in "left_off".
[[nodiscard]] std::string guestinfo(const Health& health, const Edition& edition);

}  // namespace pvrdma::exports
