// SPDX-License-Identifier: GPL-2.0-or-later
// The families of the machine and of the agent, and the list of all families.
#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>

#include "agent/model/health.hpp"
#include "agent/model/snapshot.hpp"
#include "agent/tools/metrics/families.hpp"

namespace pvrdma::metrics {

namespace {

constexpr std::array kMachineStates{State::Absent,   State::Converging, State::Ready,
                                    State::Degraded, State::Failed,     State::Unknown};

Samples one(double value) { return {{{}, value}}; }

// The executor's ledger counts what it did. Where the ledger cannot be read, Health counts too
// little, so there is no sample.
Samples from_ledger(const Observation& observation, std::uint64_t Health::*count) {
  const Health* health = observation.health;
  if (health == nullptr) return {};
  for (const Finding& finding : health->findings)
    if (finding.id == FindingId::LedgerUnusable) return {};
  return one(static_cast<double>(health->*count));
}

// These findings say that something of the machine itself could not be read.
bool says_unreadable(const Finding& finding) {
  return !finding.adapter &&
         (finding.id == FindingId::Unreadable || finding.id == FindingId::LedgerUnusable ||
          finding.id == FindingId::HoldersUnknown);
}

Samples boot_steps(const Observation& observation) {
  Samples samples;
  if (observation.boot == nullptr) return samples;
  for (const Step& step : observation.boot->steps) {
    const char* subject = is_of_executor(step.kind) ? "module" : "function";
    samples.push_back({{{"step", to_string(step.kind)}, {subject, step.subject}},
                       static_cast<double>(to_ms(step.at)) / 1000});
  }
  return samples;
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

// The state is unknown where the agent gave no answer.
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

Samples observation_time(const Observation& observation) {
  // Health's default is the beginning of the boot: no look has finished yet.
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

constexpr Family kMachineFamilies[]{
    {"pvrdma_agent_up", "Whether pvrdma-agent answered (1), or does not run or hangs (0).",
     Type::Gauge, [](const Observation& seen) { return one(seen.health == nullptr ? 0 : 1); }},
    {"pvrdma_boot_step_seconds",
     "When a step of this boot was reached, or found as reached, after the kernel's start.",
     Type::Gauge, boot_steps},
    {"pvrdma_build_info", "Version of pvrdma-agentctl, which writes this; always 1.", Type::Gauge,
     [](const Observation& seen) {
       return Samples{{{{"version", seen.version}}, 1}};
     }},
    {"pvrdma_driver_reloads_total", "Reloads of vmw_pvrdma by the agent in this boot.",
     Type::Counter, [](const Observation& seen) { return from_ledger(seen, &Health::reloads); }},
    {"pvrdma_executor_call_seconds",
     "How long the privileged executor's present call has been under way; 0: there is none.",
     Type::Gauge, executor_call},
    {"pvrdma_findings",
     "Findings there are now, as pvrdma-agentctl(1) explains them; of the machine where there "
     "is no label function.",
     Type::Gauge, findings},
    {"pvrdma_function_rebinds_total",
     "Functions unbound from vmw_pvrdma and bound again by the agent in this boot.", Type::Counter,
     [](const Observation& seen) { return from_ledger(seen, &Health::rebinds); }},
    {"pvrdma_metrics_timestamp_seconds", "When the agent was asked for these metrics.", Type::Gauge,
     [](const Observation& seen) { return one(timestamp(seen.now.boot, seen.now)); }},
    {"pvrdma_observation_timestamp_seconds", "When the look behind these metrics ended.",
     Type::Gauge, observation_time},
    {"pvrdma_state",
     "State of the machine: 1 for the one it is in, 0 for the others; unknown where the agent "
     "gave no answer.",
     Type::Gauge, machine_state},
    {"pvrdma_state_timestamp_seconds", "When the machine entered its state.", Type::Gauge,
     machine_state_time},
    {"pvrdma_unreadable_fields",
     "Parts of the state that could not be read, whose metrics are absent; of the machine "
     "where there is no label function.",
     Type::Gauge, unreadable_fields},
};

}  // namespace

double timestamp(BootTime time, const Moment& now) {
  const auto wall = std::chrono::floor<std::chrono::seconds>(now.wall - (now.boot - time));
  return static_cast<double>(wall.count());
}

std::span<const Family> families() {
  static const std::vector<Family> kFamilies = [] {
    std::vector<Family> all{std::begin(kMachineFamilies), std::end(kMachineFamilies)};
    const auto adapters = adapter_families();
    all.insert(all.end(), adapters.begin(), adapters.end());
    std::sort(all.begin(), all.end(), [](const Family& left, const Family& right) {
      return std::string_view{left.name} < right.name;
    });
    return all;
  }();
  return kFamilies;
}

}  // namespace pvrdma::metrics
