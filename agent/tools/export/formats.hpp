// SPDX-License-Identifier: GPL-2.0-or-later
// The agent's health in the formats of container engines, Kubernetes and vSphere. Pure.
//
// Privileged programs read these texts, and an unprivileged process provides the contents: a name
// that does not look like a device's is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "agent/base/clock.hpp"
#include "agent/model/health.hpp"

namespace pvrdma::exports {

// Container Device Interface, SPEC.md of github.com/cncf-tags/container-device-interface, version
// 0.5.0, because podman 4.3 knows no later one. There is a device for each adapter, named by its
// function, and "all". The text has paths and no device numbers: numbers change when the driver is
// reloaded, and an engine reads the node's number when a container starts. None: no adapter has a
// device node.
inline constexpr const char* kCdiKind = "pvrdma.io/adapter";
// Whether the kernel has this verbs node for this PVRDMA function: an adapter is left out unless it
// has.
using Belongs = std::function<bool(const std::string& function, const std::string& uverbs)>;
// `connection_manager`: /dev/infiniband/rdma_cm exists.
[[nodiscard]] std::optional<std::string> cdi(const Health& health, const Belongs& belongs,
                                             bool connection_manager);

// A feature file of Node Feature Discovery (its documentation, "Custom and local features"): labels
// pvrdma.io/… that lapse `lifetime` after `now`.
[[nodiscard]] std::string node_features(const Health& health, const Moment& now,
                                        Milliseconds lifetime);

// The verdict as one JSON object on one line, for a guestinfo variable; like appInfo of
// open-vm-tools it has version, updateCounter and publishTime.
inline constexpr std::size_t kGuestinfoLimitBytes = 4096;
struct Edition {
  std::string boot_id;        // sd-id128(3), 32 hexadecimal digits
  std::uint64_t counter = 1;  // number of verdicts that this process has published
  Moment now;
};
// At most kGuestinfoLimitBytes: adapters and findings that do not fit are counted in "left_off".
[[nodiscard]] std::string guestinfo(const Health& health, const Edition& edition);

}  // namespace pvrdma::exports
