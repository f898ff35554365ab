// The plan in words.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/ctl/fields.hpp"
#include "agent/ctl/rendering.hpp"

namespace pvrdma::ctl {

namespace {

std::string render_action(const Json& action, std::size_t place, const Style& style) {
  const std::string mark = std::to_string(place) + ". ";
  std::string out =
      mark +
      wrapped(in_words(text(action, "verb").value_or("?"), text(action, "target").value_or("")),
              style.width, mark.size()) +
      "\n";
  if (const auto reason = text(action, "reason"); reason && !reason->empty())
    out += std::string(mark.size(), ' ') + wrapped("because " + *reason, style.width, mark.size()) +
           "\n";
  return out;
}

}  // namespace

std::string render_plan(const Json& plan, const Style& style) {
  const Json& actions = list_of(plan, "actions");
  std::string out = actions.empty() ? "nothing to do\n" : "";
  std::size_t place = 0;
  for (const Json& action : actions) out += render_action(action, ++place, style);
  for (const Notes notes : {Notes::Without, Notes::Only}) {
    const std::string findings = render_findings(plan, notes, style);
    if (!findings.empty()) out += "\n" + findings;
  }
  if (const auto next = number(plan, "next_look_in_ms"))
    out += "\n" +
           painted("Without any event, the agent looks again in " + span(Milliseconds{*next}) + ".",
                   Colour::Dim, style) +
           "\n";
  return out;
}

int plan_exit_code(const Json& plan) {
  int code = list_of(plan, "actions").empty() ? 0 : 1;
  for (const Json& finding : list_of(plan, "findings")) {
    const int rank = rank_of_severity(text(finding, "severity").value_or(""));
    if (rank == rank_of_severity("error")) return 2;
    if (rank == rank_of_severity("warning")) code = 1;
  }
  return code;
}

}  // namespace pvrdma::ctl
