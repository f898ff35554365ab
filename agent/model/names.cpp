// SPDX-License-Identifier: GPL-2.0-or-later
// Printable names of the model's values.
#include <array>

#include "agent/model/action.hpp"
#include "agent/model/attempt.hpp"
#include "agent/model/event.hpp"
#include "agent/model/health.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma {

namespace {

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

const char* kind_of(const Event& event) { return kEvents.at(event.index()); }

Verb verb(const Operation& operation) { return kWordsOf<Verb>.at(operation.index()).value; }

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
