// SPDX-License-Identifier: GPL-2.0-or-later
// History: the little that no look at the system can tell: when things changed, and who asked; and
// what a look adds to the timeline of a boot.
//
// advance() is pure: the history after a look follows from the history before it, the look before
// and the look now. What was tried is not here; the executor's ledger (in the Snapshot) tells that.
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
  BootTime first_seen;
  // Last change of anything the rules look at: binding, link, MTU, addresses, carrier, netdev,
  // port.
  BootTime changed;
  // Of the port's state alone, as Health reports it.
  std::uint64_t transitions = 0;
  BootTime port_changed;
  std::uint64_t gid_moves = 0;  // as Health reports it
  // What it was last known by. Another permanent MAC in the same slot is another adapter.
  std::string mac{};
  std::string netdev{};
  // When it was seen to lose the driver it had; zero: it was not.
  BootTime unbound{};
  // When a network manager was last seen to have its link; zero: none was.
  BootTime managed{};
  // When its link was seen to have been taken down, which this agent never does; zero: it was not.
  BootTime downed{};
  // As it was last read: a part that the newest look could not read is here as before. Changes are
  // seen by it, so a part that cannot be read for a while is none. Nothing is done because of it.
  // Null: it was not looked at yet.
  std::shared_ptr<const Adapter> read{};
  // Since when parts that a verdict rests on cannot be read; none: all can.
  std::optional<BootTime> unreadable_since{};
};

// An adapter that left the VM while the agent ran and has not come back.
struct RemovedAdapter {
  std::string function;
  std::string mac;     // the permanent one; empty where it was not known
  std::string netdev;  // name; empty where it had none
  BootTime removed;
  friend bool operator==(const RemovedAdapter&, const RemovedAdapter&) = default;
};

struct History {
  BootTime started;                                // of the agent
  std::map<std::string, AdapterHistory> adapters;  // by function
  std::vector<RemovedAdapter> removed;             // not yet acknowledged; the latest are last
  // Attempts that ended before this no longer count: something changed by itself, or somebody
  // asked.
  BootTime fresh_start{};
  // When the customization that is under way was first seen; none: there is none.
  std::optional<BootTime> customized_since;
  // When an administrator asked for a reload last that was neither carried out nor refused; none:
  // there is no such request.
  std::optional<BootTime> reload_asked;
  // The executor's call that has not come back; there is never a second one.
  std::optional<BusyCall> busy;
  // Why the executor could not be asked the last time; none: it was asked.
  std::optional<Error> executor_missing;
};

// Of an adapter that no look has recorded yet, everything is of this moment.
[[nodiscard]] AdapterHistory history_of(const History& history, const Adapter& adapter,
                                        BootTime now);

// How long the kernel, udev and the host are given after a change before the next rung. The driver
// reports PORT_ACTIVE within milliseconds of NETDEV_UP (drivers/infiniband/hw/vmw_pvrdma, Linux
// 6.1); the rest is allowance for a loaded host.
inline constexpr Milliseconds kSettle{3000};

// What a verdict on the adapter goes by: null, as the newest look has it; or, where that could not
// read all of it, as it was last read, for kSettle. One look may fail by chance (a table that
// changes while it is read, a bus that is late), and then the next one tells.
[[nodiscard]] const Adapter* last_reading(const AdapterHistory& entry, BootTime now);

// `before` is null for the first look.
[[nodiscard]] History advance(History history, const Snapshot* before, const Snapshot& now);

// What the first look of this agent finds reached, was reached then or before. `health` is the
// verdict on `now`. What the executor does is not among the steps: it tells of that itself
// (agent/executor/main.cpp).
[[nodiscard]] Timeline advance(Timeline timeline, const Config& config, const Snapshot* before,
                               const Snapshot& now, const Health& health);

}  // namespace pvrdma
