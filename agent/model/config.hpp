// SPDX-License-Identifier: GPL-2.0-or-later
// Config: what the administrator asked for, after every file was read and checked.
//
// A Config is always a good one: agent/config yields an error in place of a half-good value.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/base/clock.hpp"

namespace pvrdma {

// The words for an enum's values in pvrdma-agent.toml, in the order in which a message lists them.
template <typename Value>
using ConfigWords = std::array<std::pair<const char*, Value>, 3>;

// How far the agent may go to have vmw_pvrdma loaded last.
enum class ReloadPolicy {
  Auto,    // reload where nothing gentler helped, and nobody holds an adapter
  Always,  // as scripts in rc.local do: unload and load once per boot, then as Auto
  Never,   // never unload or rebind
};
inline constexpr ConfigWords<ReloadPolicy> kReloadWords{{{"auto", ReloadPolicy::Auto},
                                                         {"always", ReloadPolicy::Always},
                                                         {"never", ReloadPolicy::Never}}};

// Whose the link of an adapter is.
enum class Manage {
  Auto,     // ours unless a network manager has it
  Agent,    // ours
  Observe,  // never touched, only reported
};
inline constexpr ConfigWords<Manage> kManageWords{
    {{"auto", Manage::Auto}, {"agent", Manage::Agent}, {"observe", Manage::Observe}}};

// Names one adapter. Exactly one of the three is set.
struct AdapterMatch {
  std::optional<std::string> mac;     // lower case, "00:50:56:8a:9f:c2"
  std::optional<std::string> pci;     // either function of the adapter, "0000:13:00.1"
  std::optional<std::string> netdev;  // "ens224f0"
  friend bool operator==(const AdapterMatch&, const AdapterMatch&) = default;
};

// Which GID of an address applications are to use: an address has one for each type the device
// knows.
enum class GidType {
  Best,    // RoCE v2 where there is one
  RoceV1,  // "IB/RoCE v1" in sysfs
  RoceV2,
};
inline constexpr ConfigWords<GidType> kGidTypeWords{
    {{"best", GidType::Best}, {"RoCE v1", GidType::RoceV1}, {"RoCE v2", GidType::RoceV2}}};

struct AdapterConfig {
  AdapterMatch match;  // of `every_adapter` empty
  Manage manage = Manage::Auto;
  std::optional<unsigned> mtu;         // bytes
  std::vector<std::string> addresses;  // "192.168.30.201/24", "fd00::1/64"
  GidType gid_type = GidType::Best;
  friend bool operator==(const AdapterConfig&, const AdapterConfig&) = default;
};

struct Config {
  struct Modules {
    // Loaded before vmw_pvrdma, in this order.
    std::vector<std::string> before = {"mlx4_ib", "ib_umad", "rdma_cm", "rdma_ucm"};
    // Of `before`, those without which health is `failed`. Others may be missing.
    std::vector<std::string> required = {"rdma_cm", "rdma_ucm"};
    ReloadPolicy reload = ReloadPolicy::Auto;
    friend bool operator==(const Modules&, const Modules&) = default;
  } modules;
  struct Readiness {
    std::optional<unsigned> adapters;  // how many must be ready; none: all there are
    Milliseconds timeout = std::chrono::seconds{90};
    // How long an adapter that was removed from the running VM is a finding; 0: not at all.
    Milliseconds forget_removed = std::chrono::hours{1};
    friend bool operator==(const Readiness&, const Readiness&) = default;
  } readiness;
  struct Guestinfo {
    // What vSphere has for this VM counts. None: nobody has said, which is no.
    std::optional<bool> enabled;
    friend bool operator==(const Guestinfo&, const Guestinfo&) = default;
  } guestinfo;
  // False: a part was left out. What is not named may then have been meant, so nothing is undone.
  bool complete = true;
  // What holds for an adapter that none of `adapters` names; without addresses.
  AdapterConfig every_adapter;
  // Each complete: keys that its [[adapter]] does not set are those of `every_adapter`.
  std::vector<AdapterConfig> adapters;

  friend bool operator==(const Config&, const Config&) = default;
};

}  // namespace pvrdma
