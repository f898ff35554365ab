// SPDX-License-Identifier: GPL-2.0-or-later
// The decisions of step() on each event of a recording, as text: the output of tests/replay, and
// the expectation for the recordings among the fixtures.
#pragma once

#include <string>

#include "agent/base/format.hpp"
#include "agent/base/text.hpp"
#include "agent/plan/planner.hpp"
#include "agent/plan/step.hpp"
#include "tests/unit/codec/recording_reader.hpp"

namespace pvrdma::test {

inline std::string in_short(const Event& event) {
  if (const auto* ended = std::get_if<CallEnded>(&event))
    return formatted(
        "call_ended {}: {}", describe(ended->operation),
        ended->result ? to_string(ended->result->outcome) : ended->result.error().message());
  if (const auto* unreachable = std::get_if<ExecutorUnreachable>(&event))
    return formatted("executor_unreachable {}: {}", describe(unreachable->operation),
                     unreachable->error.message());
  return kind_of(event);
}

inline std::string in_words(const Answer& answer) {
  static constexpr std::array kWords{"health",          "health", "plan",  "permission denied",
                                     "no such adapter", "in use", "failed"};
  const std::string word = kWords.at(static_cast<std::size_t>(answer.what));
  return answer.text.empty() ? word : word + ": " + answer.text;
}

// Times of day are left out: they differ from run to run.
inline std::string decision(const Stepped& stepped) {
  const AgentState& state = stepped.state;
  const Effects& effects = stepped.effects;
  std::string text;
  const auto line = [&](const std::string& what) { text += "             " + what + "\n"; };
  if (effects.concluded && state.snapshot) {
    line(pass_line(*state.snapshot, state.plan));
    std::vector<std::string> findings;
    for (const Finding& finding : state.health.findings)
      findings.emplace_back(to_string(finding.id));
    line(formatted("{}: {}{}{}", to_string(state.health.state), state.health.summary,
                   findings.empty() ? "" : "; ", joined(findings)));
  }
  if (effects.call_failed) line("logs: " + effects.call_failed->why);
  if (effects.config_rejected) line("logs: " + *effects.config_rejected);
  if (effects.ready) line("network managers may start");
  for (const Answer& answer : effects.answers)
    line(formatted("answers {}: {}", answer.client, in_words(answer)));
  if (effects.looks)
    line(formatted("looks each {} ms, hands over in {} ms", effects.looks->interval.count(),
                   (effects.looks->deliver_by - state.confirmed).count()));
  if (effects.look) line("looks now");
  if (effects.read_config) line("reads the configuration");
  if (effects.call) line("asks for " + describe(*effects.call));
  return text;
}

inline std::string decisions(const Recording& recording) {
  Stepped stepped = first_step(recording.start);
  std::string text;
  if (recording.dropped > 0)
    text += formatted("{} events before these were not kept.\n", recording.dropped);
  if (recording.base) {
    stepped.state.history = advance(std::move(stepped.state.history), nullptr, *recording.base);
    stepped.state.snapshot = recording.base;
  }
  for (const auto& [at, event] : recording.events) {
    stepped = step(std::move(stepped.state), event, at);
    text += formatted("{:>12} {}\n", in_seconds(at.time_since_epoch()), in_short(event));
    text += decision(stepped);
  }
  return text;
}

}  // namespace pvrdma::test
