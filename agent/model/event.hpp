// SPDX-License-Identifier: GPL-2.0-or-later
// Event: everything that can happen to the daemon, as a value (agent/plan/step.hpp says what
// follows from each). A recording of a daemon is a list of events with their times
// (agent/codec/recording.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/model/config.hpp"
#include "agent/model/operation_result.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma {

// Names one call of a client that waits for its answer. A daemon never uses the same value twice.
using ClientId = std::uint64_t;

// A look has ended, and its snapshot is handed over: it saw something new, was asked for, or was
// due.
struct Looked {
  BootTime began;
  Snapshot snapshot;
};
// A look has ended that saw the same as the look before it.
struct LookedSame {
  BootTime ended;
};
// The kernel or udev has told of a change that may concern an adapter.
struct KernelChanged {};
// The executor has answered, or has closed the connection. Error: it did not understand the call,
// or ended during it.
struct CallEnded {
  Operation operation;
  Result<OperationResult> result;
};
// The connection to the executor failed, so the executor knows nothing of the call.
struct ExecutorUnreachable {
  Operation operation;
  Error error;
};
struct HealthAsked {
  ClientId client = 0;
  Caller caller = Caller::Other;
};
struct PlanAsked {
  ClientId client = 0;
  Caller caller = Caller::Other;
};
struct WatchAsked {
  ClientId client = 0;
  bool more = false;  // the client is told of each change, not only of the present health
};
struct RefreshAsked {
  ClientId client = 0;
  Caller caller = Caller::Other;
};
struct ReloadAsked {
  ClientId client = 0;
  Caller caller = Caller::Other;
  std::optional<std::string> adapter;  // must be there: a function, RDMA device or netdev
};
struct AcknowledgeAsked {
  ClientId client = 0;
  Caller caller = Caller::Other;
  std::optional<std::string> adapter;  // function, MAC or netdev of a removed one; none: all
};
// A client has gone before it got its last answer.
struct ClientLeft {
  ClientId client = 0;
};
// The configuration files were read.
struct ConfigLoaded {
  bool requested = false;  // SIGHUP asked; else the daemon read in case the files have changed
  Config config;
  std::string left_out;     // why a part of it is not used, one line; empty: all is used
  std::size_t files = 0;    // how many were read
  std::string error;        // why they are invalid, one line; empty: they are valid
  bool unreadable = false;  // the kernel could not read them, which may pass
};
// The deadline of the last step has come.
struct Deadline {
  std::optional<BootTime> looking_since;  // when the look under way began; none: no look runs
};

using Event = std::variant<Looked, LookedSame, KernelChanged, CallEnded, ExecutorUnreachable,
                           HealthAsked, PlanAsked, WatchAsked, RefreshAsked, ReloadAsked,
                           AcknowledgeAsked, ClientLeft, ConfigLoaded, Deadline>;

// "looked", "reload_asked", …: for recordings and for people.
[[nodiscard]] const char* kind_of(const Event& event);

// The daemon's time limits.
struct TimeLimits {
  // READY=1 is sent after this time at the latest, whatever the driver does: network managers wait
  // for it.
  Milliseconds ready{20'000};
  // A requested reload that could neither be started nor refused is given up after this time.
  Milliseconds reload{30'000};
  // The daemon may start before the executor's socket exists. So until the first connection
  // succeeds, a call is tried again for this time.
  Milliseconds socket_patience{10'000};
  // A look that takes longer than this is stuck in the kernel.
  Milliseconds look{30'000};
  friend bool operator==(const TimeLimits&, const TimeLimits&) = default;
};

// The input of a daemon's first step.
struct Start {
  BootTime at;
  Config config;
  std::string left_out, error;  // as in ConfigLoaded; with an `error` the safe subset is in use
  TimeLimits limits;
  friend bool operator==(const Start&, const Start&) = default;
};

}  // namespace pvrdma
