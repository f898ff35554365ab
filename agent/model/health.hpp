// SPDX-License-Identifier: GPL-2.0-or-later
// Finding, Plan and Health: the agent's conclusions. Their JSON is a public interface
// (io.pvrdma.Agent, `pvrdma-agentctl --json`): members may be added, but their meaning never
// changes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/model/action.hpp"
#include "agent/model/finding_id.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma {

// Info changes no state; Warning makes a ready adapter degraded; Error means it will not work.
enum class Severity { Info, Warning, Error };
template <>
inline constexpr auto kWordsOf<Severity> = std::to_array<Word<Severity>>(
    {{Severity::Info, "info"}, {Severity::Warning, "warning"}, {Severity::Error, "error"}});

// The person or program that can end a finding.
enum class Actor {
  Agent,  // the agent, by itself
  Guest,  // an administrator of this guest
  Image,  // the maker of the guest's or container's image: kernel, modules, libraries
  Host,   // the vSphere administrator
};
template <>
inline constexpr auto kWordsOf<Actor> = std::to_array<Word<Actor>>({{Actor::Agent, "agent"},
                                                                    {Actor::Guest, "guest"},
                                                                    {Actor::Image, "image"},
                                                                    {Actor::Host, "host"}});

struct Finding {
  FindingId id = FindingId::Other;
  Severity severity = Severity::Info;
  std::optional<std::string> adapter;  // function address; none: the whole system
  std::string summary;                 // one sentence: the fact
  std::string remedy;                  // one or two sentences: what to do; may be empty for Info
  Actor actor = Actor::Guest;
  // Evidence: the values in the sentences, by name ("netdev": "ens224f0"), and the holders of the
  // device, if any.
  std::map<std::string, std::string> values;
  std::vector<Holder> holders;
  friend bool operator==(const Finding&, const Finding&) = default;
};
[[nodiscard]] inline bool is_worse(const Finding& left, const Finding& right) {
  return left.severity > right.severity;
}

enum class State {
  Absent,      // no adapter, and none required
  Converging,  // something is being done, or a wait is within its limit
  Ready,
  Degraded,  // works with warnings, or some adapters do not work
  Failed,
  Unknown,  // no look has finished, or the last one is stale
};
template <>
inline constexpr auto kWordsOf<State> = std::to_array<Word<State>>({{State::Absent, "absent"},
                                                                    {State::Converging,
                                                                     "converging"},
                                                                    {State::Ready, "ready"},
                                                                    {State::Degraded, "degraded"},
                                                                    {State::Failed, "failed"},
                                                                    {State::Unknown, "unknown"}});

struct Plan {
  std::vector<Action> actions;  // to be done now, in this order
  std::vector<Finding> findings;
  std::optional<BootTime> next_look;  // time alone changes the plan then; none: only events do
  bool reload_follows = false;        // a reload is granted; gentler operations come first
  friend bool operator==(const Plan&, const Plan&) = default;
};

// The GID that an application needs to know besides the adapter's RDMA device.
struct ApplicationGid {
  std::string address;  // without prefix: "192.168.30.201"
  std::string gid;      // "::ffff:192.168.30.201"
  unsigned index = 0;   // in the table of port 1
  std::string type;     // "RoCE v2", "IB/RoCE v1"
  friend bool operator==(const ApplicationGid&, const ApplicationGid&) = default;
};

struct AdapterHealth {
  Adapter adapter;  // as observed
  State state = State::Unknown;
  std::string managed_by;         // "agent", a network manager, "master" or "nobody"
  std::uint64_t transitions = 0;  // changes of the port's state seen since the agent started
  BootTime last_change;           // of the port's state
  std::optional<ApplicationGid> application_gid;  // none: no address, or no GID for it
  std::uint64_t gid_moves = 0;  // GIDs seen at another index than before, since the agent started
  friend bool operator==(const AdapterHealth&, const AdapterHealth&) = default;
};

[[nodiscard]] inline std::size_t count(const std::vector<AdapterHealth>& adapters, State state) {
  return static_cast<std::size_t>(std::ranges::count(adapters, state, &AdapterHealth::state));
}

// A call to the executor that has not returned.
struct CallUnderWay {
  Operation operation;
  BootTime since;
  bool stuck = false;  // has taken longer than its limit
  friend bool operator==(const CallUnderWay&, const CallUnderWay&) = default;
};

struct Health {
  State state = State::Unknown;
  BootTime since;       // when `state` was entered
  BootTime observed;    // when the look behind it ended
  std::string summary;  // "1 of 1 adapters ready"
  std::vector<AdapterHealth> adapters;
  std::vector<Finding> findings;
  std::optional<CallUnderWay> busy;
  std::uint64_t reloads = 0;  // of this boot, by the executor
  std::uint64_t rebinds = 0;
  friend bool operator==(const Health&, const Health&) = default;
};

// The exit code of a monitoring plugin: 0 ready or absent, 1 degraded or converging, 2 failed, 3
// unknown.
[[nodiscard]] int exit_code(State state);

}  // namespace pvrdma
