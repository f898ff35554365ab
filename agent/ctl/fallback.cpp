#include "agent/ctl/fallback.hpp"

#include <nlohmann/json.hpp>

namespace pvrdma::ctl {

Answered<Json> ask_or_look(const Settings& settings, const Console& console, Wanted wanted) {
  const bool plan = wanted == Wanted::Plan;
  auto answer = ask(settings.socket, plan ? "GetPlan" : "GetHealth", plan ? "plan" : "health",
                    settings.answer_within);
  // An agent that is there and does not answer is a fault of its own, not to be papered over.
  if (answer || !answer.error().not_running() || !settings.look_without_agent) return answer;
  const auto look = settings.look_without_agent();
  if (!look)
    return tl::unexpected(NoAnswer{to_string(FindingId::ConfigBad),
                                   printable(look.error().message()),
                                   "Check it with: pvrdma-agent --check-config"});
  console.complain("pvrdma-agent is not running; this is what a look without it shows");
  return plan ? *look->plan : *look->health;
}

}  // namespace pvrdma::ctl
