#include "agent/plan/slow_boot.hpp"

#include <algorithm>

namespace pvrdma {

namespace {

bool is_comparable(const Timeline& boot) {
  const Step* seen = boot.find(StepKind::AdapterSeen);
  const Step* ready = boot.find(StepKind::Ready);
  return seen != nullptr && seen->at <= BootTime{kBootAtMost} && ready != nullptr &&
         !ready->at_or_before && boot.find(StepKind::AgentStarted) != nullptr;
}

// Of a comparable boot.
Milliseconds time_to_ready(const Timeline& boot, std::optional<StepKind> since) {
  return boot.find(StepKind::Ready)->at - (since ? boot.find(*since)->at : BootTime{});
}

Milliseconds median(std::vector<Milliseconds> times) {
  std::sort(times.begin(), times.end());
  const std::size_t middle = times.size() / 2;
  return times.size() % 2 == 1 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
}

Milliseconds usual_duration(const std::vector<const Timeline*>& boots, const Step& step) {
  std::vector<Milliseconds> times;
  times.reserve(boots.size());
  for (const Timeline* boot : boots) {
    const Step* same = boot->find(step.kind, step.subject);
    times.push_back(same != nullptr ? own_duration(*boot, *same) : Milliseconds{0});
  }
  return median(std::move(times));
}

// The step up to ready that grew most, of those that lie within what was measured.
void find_cause(const Timeline& boot, const std::vector<const Timeline*>& boots, SlowBoot& slow) {
  const BootTime ready = boot.find(StepKind::Ready)->at;
  bool found = false;
  for (const Step& step : boot.steps) {
    if (step.at > ready || step.kind == slow.since) continue;
    const Milliseconds took = own_duration(boot, step);
    const Milliseconds usual = usual_duration(boots, step);
    if (found && took - usual <= slow.step_took - slow.step_usual) continue;
    found = true;
    slow.step = step;
    slow.step_took = took;
    slow.step_usual = usual;
  }
}

}  // namespace

std::optional<SlowBoot> slow_boot(const Timeline& boot, const std::vector<Timeline>& earlier) {
  if (!is_comparable(boot)) return std::nullopt;
  std::vector<const Timeline*> boots;
  for (const Timeline& other : earlier)
    if (is_comparable(other)) boots.push_back(&other);
  if (boots.size() < kBootsToCompare) return std::nullopt;
  for (const auto since : {std::optional<StepKind>{}, std::optional{StepKind::AgentStarted}}) {
    SlowBoot slow;
    slow.since = since;
    slow.boots = boots.size();
    slow.took = time_to_ready(boot, since);
    std::vector<Milliseconds> times;
    times.reserve(boots.size());
    for (const Timeline* other : boots) times.push_back(time_to_ready(*other, since));
    slow.usual = median(std::move(times));
    if (slow.took <= 2 * slow.usual || slow.took - slow.usual < kNoteworthy) continue;
    find_cause(boot, boots, slow);
    return slow;
  }
  return std::nullopt;
}

}  // namespace pvrdma
