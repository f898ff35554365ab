// SPDX-License-Identifier: GPL-2.0-or-later
// step() for tables of (state, events) -> effects: the state of a daemon on a ready machine, which
// takes events one after the other.
#pragma once

#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/plan/step.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

namespace pvrdma::test {

using Texts = std::vector<std::string>;

class Agent {
 public:
  // Begins a second before kNow; no look has ended. A reading of the configuration gives `config`.
  explicit Agent(Config config = {}, std::string left_out = {}, TimeLimits limits = {})
      : config_(std::move(config)), left_out_(std::move(left_out)) {
    now = kNow - Milliseconds{1000};
    take(first_step({now, config_, left_out_, {}, limits}));
  }

  // The effects of an event; earlier deadlines come first.
  const Effects& on(const Event& event) {
    take(step(std::move(state), event, now));
    // The configuration is unchanged.
    if (effects.read_config) {
      ConfigLoaded loaded;
      loaded.config = config_;
      loaded.left_out = left_out_;
      take(step(std::move(state), loaded, now));
    }
    return effects;
  }
  // A look that began 5 ms ago and ends now.
  const Effects& look(Snapshot seen) {
    seen.taken_at = now;
    return on(Looked{now - Milliseconds{5}, std::move(seen)});
  }
  // Lets time pass with the deadlines in it; returns the last effects.
  const Effects& wait(Milliseconds time) {
    const BootTime until = now + time;
    while (effects.deadline && *effects.deadline <= until) {
      now = *effects.deadline;
      on(Deadline{looking_since});
    }
    now = until;
    return effects;
  }
  const Effects& answers(const Operation& operation, Outcome outcome = Outcome::Done,
                         std::string detail = {}) {
    OperationResult report{outcome, std::move(detail), 0, {}};
    return on(CallEnded{operation, report});
  }

  [[nodiscard]] std::string call() const { return effects.call ? describe(*effects.call) : ""; }
  // The answers so far: "1 health", "2 failed: the reason".
  [[nodiscard]] Texts answered() const {
    Texts list;
    for (const Answer& answer : effects.answers) {
      static constexpr std::array kWords{"health",          "watched", "plan",  "denied",
                                         "no such adapter", "in use",  "failed"};
      std::string text =
          std::to_string(answer.client) + " " + kWords.at(static_cast<std::size_t>(answer.what));
      if (!answer.text.empty()) text += ": " + answer.text;
      list.push_back(std::move(text));
    }
    return list;
  }
  [[nodiscard]] bool has(FindingId id) const {
    return finding(state.health.findings, id) != nullptr;
  }

  AgentState state;
  Effects effects;
  BootTime now;
  std::optional<BootTime> looking_since;  // a look is under way
  Texts calls;                            // all calls begun
  int fed = 0;                            // how often the watchdog was fed
  Texts told;                             // all answers

 private:
  void take(Stepped next) {
    state = std::move(next.state);
    effects = std::move(next.effects);
    fed += effects.alive ? 1 : 0;
    if (effects.call) calls.push_back(call());
    for (std::string& text : answered()) told.push_back(std::move(text));
  }

  Config config_;
  std::string left_out_;
};

inline Snapshot link_down(unsigned adapters = 1) {
  Snapshot snapshot = ready_scene(adapters);
  netdev(snapshot).link_up = false;
  rdma(snapshot).port.state = PortState::Down;
  return snapshot;
}

// The driver and two of the modules before it are not loaded.
inline Snapshot two_not_loaded() {
  Snapshot snapshot = ready_scene();
  for (const char* name : {"ib_umad", "rdma_cm", kDriverModule})
    module(snapshot, name) = unloaded(name);
  adapter(snapshot).driver = {};
  adapter(snapshot).rdma_device = {};
  return snapshot;
}

// The users of clients.
inline constexpr Caller kRoot = Caller::Root, kOther = Caller::Other;

// An agent whose last look, half a minute ago, saw this.
inline Agent saw(const Snapshot& snapshot, Config config = {}, TimeLimits limits = {}) {
  Agent agent{std::move(config), {}, limits};
  agent.now = kNow;
  agent.look(snapshot);
  agent.now += std::chrono::seconds{30};
  agent.effects = {};
  return agent;
}

// A ready machine whose adapter a process holds.
inline Snapshot held() {
  Snapshot snapshot = ready_scene();
  snapshot.holders = std::vector<Holder>{{812, "ibv_asyncwatch", "rocep0s10f1"}};
  module(snapshot, kDriverModule).refcount = 1U;
  return snapshot;
}

inline Texts taken(Texts& list) { return std::exchange(list, {}); }

// A machine whose first look is this one, at kNow.
inline Agent saw_now(const Snapshot& seen, Config config = {}) {
  Agent agent{std::move(config)};
  agent.now = kNow;
  agent.look(seen);
  return agent;
}

inline Snapshot customized() {
  Snapshot snapshot = ready_scene();
  snapshot.customization = std::string{"cloud-init's local stage"};
  return snapshot;
}

}  // namespace pvrdma::test
