// SPDX-License-Identifier: GPL-2.0-or-later
// History: the facts that no single look can tell: when things changed, and what was requested.
// Also the steps that a look adds to the timeline of a boot.
//
// advance() is pure: the history after a look follows from the history before it, the look before
// and the look now. Attempts are not kept here, but in the executor's ledger (in the Snapshot).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/model/config.hpp"
#include "agent/model/health.hpp"
#include "agent/model/snapshot.hpp"
#include "agent/model/timeline.hpp"

namespace pvrdma {

struct AdapterHistory {
  // When a look first saw the adapter, or its present netdev.
  BootTime first_seen;
  // The last change of anything that the rules depend on: binding, link, MTU, addresses, carrier,
  // netdev, port.
  BootTime changed;
  // Changes of the port's state alone, as in Health.
  std::uint64_t transitions = 0;
  BootTime port_changed;
  std::uint64_t gid_moves = 0;  // as in Health
  // The adapter's last known names; the MAC is lasting_mac(). A different permanent MAC in the same
  // slot means a different adapter.
  std::string mac{};
  std::string netdev{};
  // When a look saw that the driver had released the adapter; zero: never.
  BootTime unbound{};
  // When a look last saw that a network manager had the link, or could not decide yet as there was
  // no carrier; zero: never.
  BootTime managed{};
  // When a look saw that the link was taken down, which this agent never does; zero: never.
  BootTime downed{};
  // The adapter as last read: a part that the newest look could not read keeps its earlier value.
  // Changes are found by comparison with this value, so a part that is unreadable for a while is no
  // change. No action is planned from this value. Null: no look yet.
  std::shared_ptr<const Adapter> read{};
  // Since when parts that the verdict needs are unreadable; none: all are readable.
  std::optional<BootTime> unreadable_since{};
  // When the state last changed by itself; zero: never.
  BootTime fresh_start{};
};

// An adapter that left the VM while the agent ran and has not come back.
struct RemovedAdapter {
  std::string function;
  std::string mac;     // lasting_mac(); empty where it was not known, or another adapter has it
  std::string netdev;  // name; empty where the adapter had none
  BootTime removed;
  friend bool operator==(const RemovedAdapter&, const RemovedAdapter&) = default;
};

struct History {
  BootTime started;                                // of the agent
  std::map<std::string, AdapterHistory> adapters;  // by function
  std::vector<RemovedAdapter> removed;             // not yet acknowledged; the latest are last
  // When a client asked for a new start, or something changed by itself that concerns all adapters.
  BootTime fresh_start{};
  // The modules that are neither absent nor live, and since when.
  std::map<std::string, BootTime> loading_since;
  // Until when the agent waits for the customization of the VM that is under way, or waited for the
  // last one; zero: there was none.
  BootTime customized_until{};
  // When an administrator last asked for a reload; none: the request was carried out or refused, or
  // there was none.
  std::optional<BootTime> reload_asked;
  // The executor's call that has not returned; there is never a second one.
  std::optional<CallUnderWay> busy;
  // Why the last call could not reach the executor; none: it did, or nothing is left to be done.
  std::optional<Error> executor_missing;
};

// Attempts that ended before this time no longer count. `function` empty: any adapter's change is a
// fresh start. Otherwise only that adapter's is: where the host holds its port down, another
// adapter's flap is no reason to reload the driver again, nor to try again at once to bind a
// function or to set an address.
[[nodiscard]] BootTime fresh_start(const History& history, const std::string& function = {});

// For an adapter that no look has recorded yet, all times are `now`.
[[nodiscard]] AdapterHistory history_of(const History& history, const Adapter& adapter,
                                        BootTime now);

// The time that the kernel, udev and the host get after a change before the ladder's next rung. The
// driver reports PORT_ACTIVE within milliseconds of NETDEV_UP (drivers/infiniband/hw/vmw_pvrdma,
// Linux 6.1); the rest allows for a loaded host.
inline constexpr Milliseconds kSettle{3000};

// The limit of a call that takes the driver away. Unloading vmw_pvrdma takes seconds, ten for each
// command of a device that no longer answers (PVRDMA_CMD_TIMEOUT,
// drivers/infiniband/hw/vmw_pvrdma/pvrdma_cmd.c, Linux 6.1).
inline constexpr Milliseconds kReloadBound{60'000};

// How long the agent waits for a customization of the VM. cloud-init limits its network stage to
// 120 s, and open-vm-tools its scripts to 100 s.
inline constexpr Milliseconds kCustomizationPatience{120'000};

// The adapter to judge instead of the one in the newest look; null: judge the newest look. Where
// that look could not read all of the adapter, the last reading replaces it for kSettle: one look
// may fail by chance (a table that changes while it is read, a bus that is late), and the next one
// succeeds.
[[nodiscard]] const Adapter* last_reading(const AdapterHistory& entry, BootTime now);

// `before` is null for the first look.
[[nodiscard]] History advance(History history, const Snapshot* before, const Snapshot& now);

// Steps that the agent's first look finds reached are marked `at_or_before`. `health` is the
// verdict on `now`. The executor's steps are not added here: the executor logs them itself
// (agent/executor/main.cpp).
[[nodiscard]] Timeline advance(Timeline timeline, const Config& config, const Snapshot* before,
                               const Snapshot& now, const Health& health);

}  // namespace pvrdma
