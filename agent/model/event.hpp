// SPDX-License-Identifier: GPL-2.0-or-later
// Event: everything that can happen to the daemon, as a value (agent/plan/step.hpp says what
// follows from each). A recording of a daemon is a list of these with their times
// (agent/codec/recording.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/model/config.hpp"
#include "agent/model/report.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma {

// A call of a client's that waits for its answer. Never used twice in the life of a daemon.
using ClientId = std::uint64_t;

// On whose behalf a client asks (SO_PEERCRED).
enum class Caller {
  Root,   // may change things
  Agent,  // the daemon's own user: may ask for looks, as the tools that run as it do
  Other,  // all others together have one look in a second
};

// A look has ended and is handed over: it saw something new, was asked for, or was due.
struct Looked {
  BootTime began;
  Snapshot snapshot;
};
// A look has ended that saw what the one before it saw.
struct LookedSame {
  BootTime ended;
};
// The kernel or udev has told of a change that may concern an adapter.
struct KernelChanged {};
// The executor has answered, or has hung up. An Error: it did not understand the call, or ended in
// it.
struct CallEnded {
  Operation operation;
  Result<Report> result;
};
// The executor could not be connected to, so that it knows nothing of the call.
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
  bool more = false;  // each change is told, not only what is so now
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
// The client of a call that has not had its last answer is gone.
struct ClientLeft {
  ClientId client = 0;
};
// The configuration files were read.
struct ConfigLoaded {
  bool requested = false;  // by SIGHUP; else as they may have changed without any signal
  Config config;
  std::string left_out;   // why a part of it does not count, a whole line; empty: all does
  std::size_t files = 0;  // how many were read
  std::string error;      // why they are not good, a whole line; empty: they are
};
// The time that the last step asked to be called at has come.
struct Deadline {
  std::optional<BootTime> looking_since;  // when the look under way began; none: none is
};

using Event = std::variant<Looked, LookedSame, KernelChanged, CallEnded, ExecutorUnreachable,
                           HealthAsked, PlanAsked, WatchAsked, RefreshAsked, ReloadAsked,
                           AcknowledgeAsked, ClientLeft, ConfigLoaded, Deadline>;

// "looked", "reload_asked", …: for recordings and people.
[[nodiscard]] const char* kind_of(const Event& event);

[[nodiscard]] const char* to_string(Caller caller);
[[nodiscard]] std::optional<Caller> caller_from(std::string_view text);

// How long a daemon waits for what.
struct Limits {
  // READY=1 comes at the latest then, whatever the driver does: network managers wait for it.
  Milliseconds ready{20'000};
  // A requested reload that could neither be begun nor refused is given up then.
  Milliseconds reload{30'000};
  // Nothing of the boot is waited for before the daemon starts, not even the executor's socket:
  // until it was connected to once, a call is tried again for that long.
  Milliseconds socket_patience{10'000};
  // A look that was asked for and is under way for so long is stuck in the kernel.
  Milliseconds look{30'000};
  friend bool operator==(const Limits&, const Limits&) = default;
};

// What a daemon starts with.
struct Start {
  BootTime at;
  Config config;
  std::string left_out, error;  // as ConfigLoaded has it; with `error` the safe subset is in force
  Limits limits;
  friend bool operator==(const Start&, const Start&) = default;
};

}  // namespace pvrdma
