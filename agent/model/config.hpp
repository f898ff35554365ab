// SPDX-License-Identifier: GPL-2.0-or-later
// Config: the administrator's configuration, after every file was read and checked.
//
// A Config is always valid: agent/config yields an error instead of a partly valid one. The words
// of the enums are those of pvrdma-agent.toml.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/model/words.hpp"

namespace pvrdma {

// How far the agent may go to have vmw_pvrdma loaded last.
enum class ReloadPolicy {
  Auto,    // reload where nothing gentler helped, and there is no holder
  Always,  // unload and load once per boot, as scripts in rc.local do; then as Auto
  Never,   // never unload or rebind
};
template <>
inline constexpr auto kWordsOf<ReloadPolicy> =
    std::to_array<Word<ReloadPolicy>>({{ReloadPolicy::Auto, "auto"},
                                       {ReloadPolicy::Always, "always"},
                                       {ReloadPolicy::Never, "never"}});

// The manager of an adapter's link.
enum class Manage {
  Auto,     // the agent, unless a network manager has the link
  Agent,    // the agent
  Observe,  // not the agent: it only reports
};
template <>
inline constexpr auto kWordsOf<Manage> = std::to_array<Word<Manage>>(
    {{Manage::Auto, "auto"}, {Manage::Agent, "agent"}, {Manage::Observe, "observe"}});

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
template <>
inline constexpr auto kWordsOf<GidType> = std::to_array<Word<GidType>>(
    {{GidType::Best, "best"}, {GidType::RoceV1, "RoCE v1"}, {GidType::RoceV2, "RoCE v2"}});

// The limits of `mtu`, in bytes. Below 68 the kernel removes IPv4 from the link
// (net/ipv4/devinet.c, inetdev_valid_mtu()); 9000 is the largest MTU of vmxnet3.
inline constexpr unsigned kAdapterMtuMin = 68;
inline constexpr unsigned kAdapterMtuMax = 9000;

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
    // Those of `before` without which health is `failed`. The others may be missing.
    std::vector<std::string> required = {"rdma_cm", "rdma_ucm"};
    ReloadPolicy reload = ReloadPolicy::Auto;
    friend bool operator==(const Modules&, const Modules&) = default;
  } modules;
  struct Readiness {
    std::optional<unsigned> adapters;  // how many must be ready; none: all there are
    Milliseconds timeout = std::chrono::seconds{90};
    // How long the removal of an adapter from the running VM stays a finding; 0: it is none.
    Milliseconds forget_removed = std::chrono::hours{1};
    friend bool operator==(const Readiness&, const Readiness&) = default;
  } readiness;
  struct Guestinfo {
    // Whether the configuration from vSphere is used. None: not set, which means no.
    std::optional<bool> enabled;
    friend bool operator==(const Guestinfo&, const Guestinfo&) = default;
  } guestinfo;
  // False: a part was left out. That part may name an address that the rest does not name, so the
  // agent removes no address.
  bool complete = true;
  // The configuration of an adapter that no entry of `adapters` matches; without addresses.
  AdapterConfig every_adapter;
  // Each entry is complete: keys that its [[adapter]] table does not set are those of
  // `every_adapter`.
  std::vector<AdapterConfig> adapters;

  friend bool operator==(const Config&, const Config&) = default;
};

}  // namespace pvrdma
