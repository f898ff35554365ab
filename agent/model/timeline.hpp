// SPDX-License-Identifier: GPL-2.0-or-later
// Timeline: the time at which one boot reached each step towards ready adapters. Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/model/words.hpp"

namespace pvrdma {

enum class StepKind {
  AgentStarted,    // for the first time in this boot
  AdapterSeen,     // the RDMA function (15ad:0820) is on the bus
  ModuleLoaded,    // by the executor
  DriverReloaded,  // vmw_pvrdma, by the executor
  DriverLive,      // vmw_pvrdma (/sys/module/vmw_pvrdma/initstate)
  LinkUp,          // IFF_UP of the adapter's netdev
  Carrier,         // of that netdev
  PortActive,      // PORT_ACTIVE of the RDMA device
  Address,         // an address that applications can use is on that netdev
  Gid,             // that address has its GID
  Ready,           // the machine's state (agent/model/health.hpp)
};
// Of the interface, and of the journal's fields.
template <>
inline constexpr auto kWordsOf<StepKind> =
    std::to_array<Word<StepKind>>({{StepKind::AgentStarted, "agent_started"},
                                   {StepKind::AdapterSeen, "adapter_seen"},
                                   {StepKind::ModuleLoaded, "module_loaded"},
                                   {StepKind::DriverReloaded, "driver_reloaded"},
                                   {StepKind::DriverLive, "driver_live"},
                                   {StepKind::LinkUp, "link_up"},
                                   {StepKind::Carrier, "carrier"},
                                   {StepKind::PortActive, "port_active"},
                                   {StepKind::Address, "address"},
                                   {StepKind::Gid, "gid"},
                                   {StepKind::Ready, "ready"}});

// The executor's steps have a module as their subject; other steps have an adapter or none.
[[nodiscard]] constexpr bool is_of_executor(StepKind kind) {
  return kind == StepKind::ModuleLoaded || kind == StepKind::DriverReloaded;
}

struct Step {
  StepKind kind = StepKind::AgentStarted;
  std::string subject;  // a module, a function address; empty: the whole machine
  BootTime at;          // when the step was reached; for a module, when its load had ended
  std::optional<Milliseconds> took;  // of the executor's steps: the time in the kernel
  // True where the agent's first look found the step reached: it was reached at `at` or before.
  bool at_or_before = false;
  friend bool operator==(const Step&, const Step&) = default;
};

struct Timeline {
  std::string boot_id;             // sd-id128(3), 32 hexadecimal digits
  std::string began;               // when the boot began, in the format of wall_time()
  std::string kernel;              // release, uname(2); empty: not known
  std::uint64_t port_changes = 0;  // of any port's state, between the first look and Ready
  std::vector<Step> steps;         // ascending in time; one of a kind and subject

  // Null: not reached. An empty subject finds the earliest step of that kind.
  [[nodiscard]] const Step* find(StepKind kind, std::string_view subject = {}) const;
  // Inserts the step in order of time; false: the step is there already, or there is no room. The
  // step Ready ends the boot. After it only missing steps of adapters seen before are added (an
  // address by DHCP), so that later changes of the machine are no part of the boot.
  bool add(Step step);
  friend bool operator==(const Timeline&, const Timeline&) = default;
};

// Enough for ten adapters and a long list of modules.
inline constexpr std::size_t kStepsAtMost = 128;

// The time from the step before it: the latest earlier step of the machine or of the same adapter.
// Without such a step, the time since the boot began.
[[nodiscard]] Milliseconds own_duration(const Timeline& timeline, const Step& step);

// For a person: "load of ib_umad", "carrier of 0000:13:00.1", "ready".
[[nodiscard]] std::string in_words(StepKind kind, const std::string& subject);

}  // namespace pvrdma
