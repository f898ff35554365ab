// SPDX-License-Identifier: GPL-2.0-or-later
// Operation: one of the five things that the executor can be asked to do. Action: an operation, and
// the reason for it.
#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/model/words.hpp"

namespace pvrdma {

// Insert a module with its dependencies and soft dependencies.
struct LoadModule {
  std::string module;  // with underscores
  friend bool operator==(const LoadModule&, const LoadModule&) = default;
};
// Bind vmw_pvrdma to a function that has no driver.
struct BindFunction {
  std::string function;
  friend bool operator==(const BindFunction&, const BindFunction&) = default;
};
// Close a function's verbs node, then unbind and bind the function. For a driver that cannot be
// unloaded.
struct RebindFunction {
  std::string function;
  friend bool operator==(const RebindFunction&, const RebindFunction&) = default;
};
// Remove vmw_pvrdma and insert it again. This affects every adapter.
struct ReloadDriver {
  friend bool operator==(const ReloadDriver&, const ReloadDriver&) = default;
};
// Bring the adapter's link up, with MTU and addresses where given. `removes`: remove addresses that
// this agent has set and the configuration no longer names. The executor may read a newer
// configuration than the agent has, so the request then also names the addresses that stay: the
// executor refuses it where that configuration lacks one of them.
struct ConfigureLink {
  std::string function;
  std::string netdev;
  std::optional<unsigned> mtu;  // bytes
  std::vector<std::string> addresses;
  bool removes = false;
  friend bool operator==(const ConfigureLink&, const ConfigureLink&) = default;
};

using Operation =
    std::variant<LoadModule, BindFunction, RebindFunction, ReloadDriver, ConfigureLink>;

// In the order of Operation's alternatives.
enum class Verb { LoadModule, BindFunction, RebindFunction, ReloadDriver, ConfigureLink };
// As in the varlink interface and in the ledger.
template <>
inline constexpr auto kWordsOf<Verb> =
    std::to_array<Word<Verb>>({{Verb::LoadModule, "LoadModule"},
                               {Verb::BindFunction, "BindFunction"},
                               {Verb::RebindFunction, "RebindFunction"},
                               {Verb::ReloadDriver, "ReloadDriver"},
                               {Verb::ConfigureLink, "ConfigureLink"}});
static_assert(kWordsOf<Verb>.size() == std::variant_size_v<Operation>);

struct Action {
  Operation operation;
  std::string reason;  // for a person: "ib_umad must be loaded before vmw_pvrdma"
  friend bool operator==(const Action&, const Action&) = default;
};

// The user of a client (SO_PEERCRED, unix(7)).
enum class Caller {
  Root,   // may change things
  Agent,  // the agent's user: may ask for looks; the executor limits it by agent/model/attempt.hpp
  Other,  // every other user: all together may ask the agent for one look a second
};
template <>
inline constexpr auto kWordsOf<Caller> = std::to_array<Word<Caller>>({{Caller::Root, "root"},
                                                                      {Caller::Agent, "agent"},
                                                                      {Caller::Other, "other"}});
[[nodiscard]] inline Caller caller_of(uid_t peer, uid_t agent) {
  if (peer == 0) return Caller::Root;
  return peer == agent ? Caller::Agent : Caller::Other;
}

[[nodiscard]] Verb verb(const Operation& operation);
// The module or the function address that the operation changes; "vmw_pvrdma" for ReloadDriver.
[[nodiscard]] std::string target(const Operation& operation);
// "LoadModule ib_umad"
[[nodiscard]] std::string describe(const Operation& operation);
[[nodiscard]] std::string describe(Verb verb, const std::string& target);
// True for the verbs that take the driver away from a function: RebindFunction, ReloadDriver.
[[nodiscard]] bool takes_driver_away(Verb verb);
[[nodiscard]] bool takes_driver_away(const Operation& operation);

}  // namespace pvrdma
