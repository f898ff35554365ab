// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/ctl/rendering.hpp"

#include <algorithm>
#include <array>

#include "agent/base/text.hpp"

namespace pvrdma::ctl {

namespace {

// The daemon looks at least every thirty seconds, so an older look is mentioned.
constexpr Milliseconds kOldLook = std::chrono::seconds{45};

std::string line_of_times(const Health& health, const Style& style) {
  const std::string since = "since " + moment(health.since, style.now) + ", ";
  if (health.observed == BootTime{}) return since + "the adapters have not been looked at yet";
  const Milliseconds age = style.now.boot - health.observed;
  return since + "observed " + span(age) + " ago" +
         (age > kOldLook ? " - an old look, the agent may be stuck" : "");
}

// The summary may end with the first finding after a colon, for places with little room. Here the
// findings follow, so it is removed.
std::string summary_alone(const Health& health) {
  std::string summary = health.summary;
  for (const Finding& finding : health.findings)
    if (const std::string tail = ": " + finding.summary; summary.ends_with(tail))
      summary.erase(summary.size() - tail.size());
  return summary;
}

std::string verdict(const Health& health, const Style& style) {
  const std::string word = upper(to_string(health.state));
  const std::size_t indent = columns(word) + 2;
  return painted(word, colour_of(health.state), style) + "  " +
         wrapped(summary_alone(health), style.width, indent) + "\n" + std::string(indent, ' ') +
         painted(wrapped(line_of_times(health, style), style.width, indent), Colour::Dim, style) +
         "\n";
}

// For the agent a missing adapter is no error, but it may be one for the reader.
std::string hint_of_absence(const Health& health, const Style& style) {
  if (health.state != State::Absent) return {};
  return wrapped(
             "If there should be one, require it by readiness.adapters; `pvrdma-agentctl "
             "doctor` says why there is none.",
             style.width, 0) +
         "\n";
}

std::string executor_lines(const Health& health, const Style& style) {
  if (!health.busy) return {};
  const std::string call = in_words(health.busy->operation);
  const std::string time = span(style.now.boot - health.busy->since);
  if (!health.busy->stuck)
    return "Doing now: " + wrapped(call + " (for " + time + ")", style.width, 11) + "\n";
  // The agent's own finding says the same, with a remedy.
  for (const Finding& finding : health.findings)
    if (finding.id == FindingId::ExecutorStuck) return {};
  return painted("STUCK", Colour::Red, style) + "  " +
         wrapped(call + ": no answer for " + time +
                     ", and the call cannot be cancelled. See: journalctl -b -u "
                     "pvrdma-agent-executor, and dmesg",
                 style.width, 7) +
         "\n";
}

std::string counters(const Health& health, const Style& style) {
  std::vector<std::string> parts;
  if (health.reloads > 0)
    parts.push_back("driver reloaded " + std::to_string(health.reloads) + "x");
  if (health.rebinds > 0)
    parts.push_back("adapter bound to its driver again " + std::to_string(health.rebinds) + "x");
  if (parts.empty()) return {};
  return painted("Since boot: " + joined(parts), Colour::Dim, style) + "\n";
}

// The order of adapters on the screen.
constexpr std::array kWorstFirst{State::Failed,   State::Unknown,    State::Absent,
                                 State::Degraded, State::Converging, State::Ready};

std::string render_action(const Action& action, std::size_t place, const Style& style) {
  const std::string mark = std::to_string(place) + ". ";
  const auto line = [&](const std::string& text) {
    return wrapped(printable(text), style.width, mark.size()) + "\n";
  };
  std::string out = mark + line(in_words(action.operation));
  if (!action.reason.empty())
    out += std::string(mark.size(), ' ') + line("because " + action.reason);
  return out;
}

}  // namespace

std::string addresses_of(const Netdev& netdev) {
  std::vector<std::string> texts;
  for (const LinkAddress& address : netdev.addresses) texts.push_back(address.text);
  return joined(texts);
}

std::string in_words(const Operation& operation) {
  const std::string name = printable(target(operation));
  switch (verb(operation)) {
    case Verb::LoadModule:
      return "load module " + name;
    case Verb::BindFunction:
      return "bind driver vmw_pvrdma to adapter " + name;
    case Verb::RebindFunction:
      return "unbind adapter " + name + " from its driver, bind it again";
    case Verb::ReloadDriver:
      return "unload driver vmw_pvrdma and load it again, for all adapters";
    case Verb::ConfigureLink:
      break;
  }
  return "bring up the link of adapter " + name;
}

Colour colour_of(State state) {
  switch (state) {
    case State::Ready:
      return Colour::Green;
    case State::Absent:
      return Colour::Bold;
    case State::Converging:
    case State::Degraded:
      return Colour::Yellow;
    case State::Failed:
    case State::Unknown:
      break;
  }
  return Colour::Red;
}

std::string reason_of(const Health& health) {
  const Finding* worst = worst_finding(health);
  if (worst != nullptr && worst->severity != Severity::Info) return worst->summary;
  if (health.busy) return in_words(health.busy->operation) + " to finish";
  return health.summary;
}

std::string render_health(const Health& health, const Style& style) {
  std::string out = verdict(health, style);
  const auto block = [&](const std::string& text) {
    if (!text.empty()) out += "\n" + text;
  };
  block(hint_of_absence(health, style));
  block(executor_lines(health, style));
  block(render_findings(health.findings, {Notes::Without, false, &health.adapters}, style));
  for (const State state : kWorstFirst)
    for (const AdapterHealth& adapter : health.adapters)
      if (adapter.state == state) block(render_adapter(adapter, style));
  block(render_findings(health.findings, {Notes::Only, false, &health.adapters}, style));
  block(counters(health, style));
  return out;
}

std::string render_plan(const Plan& plan, const Style& style) {
  std::string out = plan.actions.empty() ? "nothing to do\n" : "";
  std::size_t place = 0;
  for (const Action& action : plan.actions) out += render_action(action, ++place, style);
  for (const Notes notes : {Notes::Without, Notes::Only}) {
    const std::string findings = render_findings(plan.findings, {notes, false, nullptr}, style);
    if (!findings.empty()) out += "\n" + findings;
  }
  if (plan.next_look)
    out += "\n" +
           painted("Without any event, the agent looks again in " +
                       span(*plan.next_look - style.now.boot) + ".",
                   Colour::Dim, style) +
           "\n";
  return out;
}

int plan_exit_code(const Plan& plan) {
  Severity worst = plan.actions.empty() ? Severity::Info : Severity::Warning;
  for (const Finding& finding : plan.findings) worst = std::max(worst, finding.severity);
  return static_cast<int>(worst);
}

}  // namespace pvrdma::ctl
