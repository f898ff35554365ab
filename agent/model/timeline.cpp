// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/model/timeline.hpp"

#include <algorithm>
#include <utility>

namespace pvrdma {

namespace {

bool is_adapters(const Step& step) { return !step.subject.empty() && !is_of_executor(step.kind); }

bool comes_too_late(const Timeline& boot, const Step& step) {
  return boot.find(StepKind::Ready) != nullptr &&
         (!is_adapters(step) || boot.find(StepKind::AdapterSeen, step.subject) == nullptr);
}

}  // namespace

const Step* Timeline::find(StepKind kind, std::string_view subject) const {
  const auto found = std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
    return step.kind == kind && (subject.empty() || step.subject == subject);
  });
  return found == steps.end() ? nullptr : &*found;
}

bool Timeline::add(Step step) {
  if (steps.size() >= kStepsAtMost || find(step.kind, step.subject) != nullptr ||
      comes_too_late(*this, step))
    return false;
  const auto order = [](const Step& left, const Step& right) {
    return std::pair{left.at, left.kind} < std::pair{right.at, right.kind};
  };
  steps.insert(std::upper_bound(steps.begin(), steps.end(), step, order), std::move(step));
  return true;
}

Milliseconds own_duration(const Timeline& timeline, const Step& step) {
  BootTime since{};
  for (const Step& other : timeline.steps) {
    if (other == step) break;
    const bool counts = !is_adapters(other) || !is_adapters(step) || other.subject == step.subject;
    if (counts) since = other.at;
  }
  return step.at - since;
}

std::string in_words(StepKind kind, const std::string& subject) {
  switch (kind) {
    case StepKind::AgentStarted:
      return "start of the agent";
    case StepKind::AdapterSeen:
      return subject + " on the bus";
    case StepKind::ModuleLoaded:
      return "load of " + subject;
    case StepKind::DriverReloaded:
      return "reload of " + subject;
    case StepKind::DriverLive:
      return "vmw_pvrdma live";
    case StepKind::LinkUp:
      return "link up of " + subject;
    case StepKind::Carrier:
      return "carrier of " + subject;
    case StepKind::PortActive:
      return "port ACTIVE of " + subject;
    case StepKind::Address:
      return "address of " + subject;
    case StepKind::Gid:
      return "GID of " + subject;
    case StepKind::Ready:
      break;
  }
  return "ready";
}

}  // namespace pvrdma
