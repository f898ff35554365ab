// SPDX-License-Identifier: GPL-2.0-or-later
// Timeline: when, in one boot, each step towards ready adapters was reached. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/clock.hpp"

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
  Address,         // one that applications can use is on that netdev
  Gid,             // and it has its GID
  Ready,           // the machine's state (agent/model/health.hpp)
};

struct Step {
  StepKind kind = StepKind::AgentStarted;
  std::string subject;               // a module, a function address; empty: the whole machine
  BootTime at;                       // when it was reached; of a module, when its load had ended
  std::optional<Milliseconds> took;  // of what the executor does: how long in the kernel
  // No look of the agent had ever seen it not reached: it was there at `at`, or before.
  bool at_or_before = false;
  friend bool operator==(const Step&, const Step&) = default;
};

struct Timeline {
  std::string boot_id;             // sd-id128(3), 32 hexadecimal digits
  std::string began;               // the boot, as wall_time() has it
  std::string kernel;              // release, uname(2); empty: not known
  std::uint64_t port_changes = 0;  // of any port's state, between the first look and Ready
  std::vector<Step> steps;         // ascending in time; one of a kind and subject

  // Null: not reached. An empty subject finds the earliest of that kind.
  [[nodiscard]] const Step* find(StepKind kind, std::string_view subject = {}) const;
  // Puts it where it belongs in time; false: there is one already, or no room for more. With Ready
  // the boot has come to its end: later only what was still missing of the adapters seen by then is
  // added (an address by DHCP), and nothing that is done to the machine for other reasons.
  bool add(Step step);
  friend bool operator==(const Timeline&, const Timeline&) = default;
};

// Room for ten adapters and every module of a long list.
inline constexpr std::size_t kStepsAtMost = 128;

// How long after the step before it a step of the timeline was reached: the latest earlier one of
// the machine or of the same adapter; none: since the boot's beginning.
[[nodiscard]] Milliseconds own_duration(const Timeline& timeline, const Step& step);

// "agent_started", "adapter_seen", …: the word of the interface.
[[nodiscard]] const char* to_string(StepKind kind);
[[nodiscard]] std::optional<StepKind> step_kind_from(std::string_view text);
// For a person: "load of ib_umad", "carrier of 0000:13:00.1", "ready".
[[nodiscard]] std::string in_words(StepKind kind, const std::string& subject);

}  // namespace pvrdma
