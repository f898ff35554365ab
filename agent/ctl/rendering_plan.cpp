// The plan in words.
#include <algorithm>

#include "agent/base/text.hpp"
#include "agent/ctl/rendering.hpp"

namespace pvrdma::ctl {

namespace {

std::string render_action(const Action& action, std::size_t place, const Style& style) {
  const std::string mark = std::to_string(place) + ". ";
  const auto line = [&](const std::string& text) {
    return wrapped(printable(text), style.width, mark.size()) + "\n";
  };
  std::string out = mark + line(in_words(verb(action.operation), target(action.operation)));
  if (!action.reason.empty())
    out += std::string(mark.size(), ' ') + line("because " + action.reason);
  return out;
}

}  // namespace

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
