// SPDX-License-Identifier: GPL-2.0-or-later
// Printable names of the model's values.
#include <array>
#include <utility>

#include "agent/model/action.hpp"
#include "agent/model/attempt.hpp"
#include "agent/model/event.hpp"
#include "agent/model/health.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma {

namespace {

template <typename Enum, std::size_t N>
using Names = std::array<std::pair<Enum, const char*>, N>;

template <typename Enum, std::size_t N>
const char* name_of(const Names<Enum, N>& names, Enum value) {
  for (const auto& [key, name] : names)
    if (key == value) return name;
  return "unknown";
}

template <typename Enum, std::size_t N>
std::optional<Enum> value_of(const Names<Enum, N>& names, std::string_view text) {
  for (const auto& [key, name] : names)
    if (text == name) return key;
  return std::nullopt;
}

constexpr Names<Verb, 5> kVerbNames{{{Verb::LoadModule, "LoadModule"},
                                     {Verb::BindFunction, "BindFunction"},
                                     {Verb::RebindFunction, "RebindFunction"},
                                     {Verb::ReloadDriver, "ReloadDriver"},
                                     {Verb::ConfigureLink, "ConfigureLink"}}};
constexpr Names<Outcome, 7> kOutcomes{{{Outcome::Done, "done"},
                                       {Outcome::AlreadyDone, "already_done"},
                                       {Outcome::NotShipped, "not_shipped"},
                                       {Outcome::Refused, "refused"},
                                       {Outcome::InUse, "in_use"},
                                       {Outcome::NotAllowed, "not_allowed"},
                                       {Outcome::Failed, "failed"}}};
constexpr Names<State, 6> kStates{{{State::Absent, "absent"},
                                   {State::Converging, "converging"},
                                   {State::Ready, "ready"},
                                   {State::Degraded, "degraded"},
                                   {State::Failed, "failed"},
                                   {State::Unknown, "unknown"}}};
constexpr Names<Severity, 3> kSeverities{
    {{Severity::Info, "info"}, {Severity::Warning, "warning"}, {Severity::Error, "error"}}};
constexpr Names<Actor, 4> kActors{{{Actor::Agent, "agent"},
                                   {Actor::Guest, "guest"},
                                   {Actor::Image, "image"},
                                   {Actor::Host, "host"}}};
constexpr Names<ModuleInit, 4> kInits{{{ModuleInit::Coming, "coming"},
                                       {ModuleInit::Live, "live"},
                                       {ModuleInit::Going, "going"},
                                       {ModuleInit::BuiltIn, "built-in"}}};
constexpr Names<Shipped, 3> kShipped{{{Shipped::Loadable, "loadable"},
                                      {Shipped::BuiltIn, "built-in"},
                                      {Shipped::Missing, "missing"}}};
constexpr Names<LinkManager, 4> kManagers{{{LinkManager::Networkd, "systemd-networkd"},
                                           {LinkManager::NetworkManager, "NetworkManager"},
                                           {LinkManager::Ifupdown, "ifupdown"},
                                           {LinkManager::Master, "master"}}};
constexpr Names<Caller, 3> kCallers{
    {{Caller::Root, "root"}, {Caller::Agent, "agent"}, {Caller::Other, "other"}}};
// In the order of Event's alternatives.
constexpr std::array kEvents{"looked",
                             "looked_same",
                             "kernel_changed",
                             "call_ended",
                             "executor_unreachable",
                             "health_asked",
                             "plan_asked",
                             "watch_asked",
                             "refresh_asked",
                             "reload_asked",
                             "acknowledge_asked",
                             "client_left",
                             "config_loaded",
                             "deadline"};
static_assert(kEvents.size() == std::variant_size_v<Event>);

}  // namespace

const char* to_string(Verb verb) { return name_of(kVerbNames, verb); }
const char* to_string(Outcome outcome) { return name_of(kOutcomes, outcome); }
const char* to_string(State state) { return name_of(kStates, state); }
const char* to_string(Severity severity) { return name_of(kSeverities, severity); }
const char* to_string(Actor actor) { return name_of(kActors, actor); }
const char* to_string(ModuleInit init) { return name_of(kInits, init); }
const char* to_string(Shipped shipped) { return name_of(kShipped, shipped); }
const char* to_string(LinkManager manager) { return name_of(kManagers, manager); }
const char* to_string(Caller caller) { return name_of(kCallers, caller); }
const char* kind_of(const Event& event) { return kEvents.at(event.index()); }
std::optional<ModuleInit> module_init_from(std::string_view text) { return value_of(kInits, text); }
std::optional<Shipped> shipped_from(std::string_view text) { return value_of(kShipped, text); }
std::optional<LinkManager> link_manager_from(std::string_view text) {
  return value_of(kManagers, text);
}
std::optional<Caller> caller_from(std::string_view text) { return value_of(kCallers, text); }
std::optional<Verb> verb_from(std::string_view name) { return value_of(kVerbNames, name); }
std::optional<Outcome> outcome_from(const std::string& text) { return value_of(kOutcomes, text); }
std::optional<Severity> severity_from(std::string_view text) { return value_of(kSeverities, text); }
std::optional<Actor> actor_from(std::string_view text) { return value_of(kActors, text); }
std::optional<State> state_from(std::string_view text) { return value_of(kStates, text); }

Verb verb(const Operation& operation) { return kVerbs.at(operation.index()); }

std::string target(const Operation& operation) {
  return std::visit(
      [](const auto& one) -> std::string {
        if constexpr (requires { one.module; })
          return one.module;
        else if constexpr (requires { one.function; })
          return one.function;
        else
          return kDriverModule;
      },
      operation);
}

std::string describe(Verb verb, const std::string& target) {
  return std::string{to_string(verb)} + " " + target;
}

std::string describe(const Operation& operation) {
  return describe(verb(operation), target(operation));
}

std::string describe(const LinkOwner& owner) {
  return owner.manager == LinkManager::Master ? "its master " + owner.master
                                              : to_string(owner.manager);
}

std::string describe(const BusyCall& call) { return describe(call.verb, call.target); }

bool takes_driver_away(Verb verb) {
  return verb == Verb::RebindFunction || verb == Verb::ReloadDriver;
}

bool takes_driver_away(const Operation& operation) { return takes_driver_away(verb(operation)); }

int exit_code(State state) {
  if (state == State::Ready || state == State::Absent) return 0;
  if (state == State::Degraded || state == State::Converging) return 1;
  return state == State::Failed ? 2 : 3;
}

}  // namespace pvrdma
