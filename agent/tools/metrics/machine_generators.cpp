// Samples of the machine and of the agent.
#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <tuple>

#include "agent/model/health.hpp"
#include "agent/model/unreadable.hpp"
#include "agent/tools/metrics/generators.hpp"

namespace pvrdma::metrics {

namespace {

constexpr std::array kMachineStates{State::Absent,   State::Converging, State::Ready,
                                    State::Degraded, State::Failed,     State::Unknown};

Samples one(double value) { return {{{}, value}}; }

bool has_finding(const Health& health, FindingId id) {
  return std::any_of(health.findings.begin(), health.findings.end(),
                     [&](const Finding& finding) { return finding.id == id; });
}

// What the executor did is counted in its ledger: where that cannot be read, more was done than
// Health says.
Samples from_ledger(const Observation& observation, std::uint64_t Health::*count) {
  const Health* health = observation.health;
  if (health == nullptr || has_finding(*health, FindingId::LedgerUnusable)) return {};
  return one(static_cast<double>(health->*count));
}

// What of the machine itself is not known, each with its finding.
bool says_unreadable(const Finding& finding) {
  return !finding.adapter &&
         (finding.id == FindingId::Unreadable || finding.id == FindingId::LedgerUnusable ||
          finding.id == FindingId::HoldersUnknown);
}

}  // namespace

double timestamp(BootTime time, const Moment& now) {
  const auto wall = std::chrono::floor<std::chrono::seconds>(now.wall - (now.boot - time));
  return static_cast<double>(wall.count());
}

Samples agent_up(const Observation& observation) {
  return one(observation.health == nullptr ? 0 : 1);
}

Samples boot_steps(const Observation& observation) {
  Samples samples;
  if (observation.boot == nullptr) return samples;
  for (const Step& step : observation.boot->steps) {
    const bool of_module =
        step.kind == StepKind::ModuleLoaded || step.kind == StepKind::DriverReloaded;
    samples.push_back(
        {{{"step", to_string(step.kind)}, {of_module ? "module" : "function", step.subject}},
         static_cast<double>(to_ms(step.at)) / 1000});
  }
  return samples;
}

Samples build_info(const Observation& observation) {
  return {{{{"version", observation.version}}, 1}};
}

Samples driver_reloads(const Observation& observation) {
  return from_ledger(observation, &Health::reloads);
}

Samples function_rebinds(const Observation& observation) {
  return from_ledger(observation, &Health::rebinds);
}

Samples executor_call(const Observation& observation) {
  if (observation.health == nullptr) return {};
  const auto& busy = observation.health->busy;
  if (!busy) return one(0);
  return one(static_cast<double>((observation.now.boot - busy->since).count()) / 1000);
}

Samples findings(const Observation& observation) {
  if (observation.health == nullptr) return {};
  std::map<std::tuple<std::string, std::string, std::string>, unsigned> counts;
  for (const Finding& finding : observation.health->findings)
    ++counts[{to_string(finding.id), to_string(finding.severity), finding.adapter.value_or("")}];
  Samples samples;
  for (const auto& [key, count] : counts) {
    const auto& [id, severity, function] = key;
    samples.push_back(
        {{{"id", id}, {"severity", severity}, {"function", function}}, static_cast<double>(count)});
  }
  return samples;
}

// Who gives no answer is in no state that is known.
Samples machine_state(const Observation& observation) {
  const State now = observation.health == nullptr ? State::Unknown : observation.health->state;
  Samples samples;
  for (const State state : kMachineStates)
    samples.push_back({{{"state", to_string(state)}}, now == state ? 1.0 : 0.0});
  return samples;
}

Samples machine_state_time(const Observation& observation) {
  if (observation.health == nullptr) return {};
  return one(timestamp(observation.health->since, observation.now));
}

Samples metrics_time(const Observation& observation) {
  return one(timestamp(observation.now.boot, observation.now));
}

Samples observation_time(const Observation& observation) {
  // The boot's own beginning: no look has finished (Health's default).
  if (observation.health == nullptr || observation.health->observed == BootTime{}) return {};
  return one(timestamp(observation.health->observed, observation.now));
}

Samples unreadable_fields(const Observation& observation) {
  if (observation.health == nullptr) return {};
  const auto& found = observation.health->findings;
  const auto of_machine = std::count_if(found.begin(), found.end(), says_unreadable);
  Samples samples = one(static_cast<double>(of_machine));
  for (const AdapterHealth& health : observation.health->adapters)
    samples.push_back({{{"function", health.adapter.function}},
                       static_cast<double>(unreadable_of(health.adapter).size())});
  return samples;
}

}  // namespace pvrdma::metrics
