// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/model/timeline.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace pvrdma {

namespace {

struct Words {
  StepKind kind;
  const char* name;
  const char* before;  // the subject
  const char* after;
};

constexpr std::array<Words, 11> kWords{{
    {StepKind::AgentStarted, "agent_started", "start of the agent", ""},
    {StepKind::AdapterSeen, "adapter_seen", "", " on the bus"},
    {StepKind::ModuleLoaded, "module_loaded", "load of ", ""},
    {StepKind::DriverReloaded, "driver_reloaded", "reload of ", ""},
    {StepKind::DriverLive, "driver_live", "vmw_pvrdma live", ""},
    {StepKind::LinkUp, "link_up", "link up of ", ""},
    {StepKind::Carrier, "carrier", "carrier of ", ""},
    {StepKind::PortActive, "port_active", "port ACTIVE of ", ""},
    {StepKind::Address, "address", "address of ", ""},
    {StepKind::Gid, "gid", "GID of ", ""},
    {StepKind::Ready, "ready", "ready", ""},
}};

const Words& words_of(StepKind kind) {
  return *std::find_if(kWords.begin(), kWords.end(),
                       [kind](const Words& words) { return words.kind == kind; });
}

bool is_adapters(const Step& step) {
  return !step.subject.empty() && step.kind != StepKind::ModuleLoaded &&
         step.kind != StepKind::DriverReloaded;
}

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

const char* to_string(StepKind kind) { return words_of(kind).name; }

std::optional<StepKind> step_kind_from(std::string_view text) {
  for (const Words& words : kWords)
    if (text == words.name) return words.kind;
  return std::nullopt;
}

std::string in_words(StepKind kind, const std::string& subject) {
  const Words& words = words_of(kind);
  // The steps of the whole machine have no subject in their text.
  const bool named = subject.empty() || kind == StepKind::AgentStarted ||
                     kind == StepKind::DriverLive || kind == StepKind::Ready;
  return words.before + (named ? std::string{} : subject) + words.after;
}

}  // namespace pvrdma
