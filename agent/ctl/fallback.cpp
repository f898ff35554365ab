#include "agent/ctl/fallback.hpp"

#include <utility>

namespace pvrdma::ctl {

namespace {

// `answer`, or the part of a look that stands for it.
template <typename T>
Answered<Answer<T>> or_look(const Settings& settings, const Console& console,
                            Answered<Answer<T>> answer, T LocalLook::*part) {
  // An agent that is there and does not answer is an error of its own, not to be hidden.
  if (answer || !answer.error().not_running() || !settings.look_without_agent) return answer;
  auto look = settings.look_without_agent();
  if (!look)
    return tl::unexpected(NoAnswer{to_string(FindingId::ConfigBad),
                                   printable(look.error().message()),
                                   "Check it with: pvrdma-agent --check-config"});
  console.complain("pvrdma-agent is not running; this is what a look without it shows");
  return as_answer(std::move((*look).*part));
}

}  // namespace

Answered<Answer<Health>> health_or_look(const Settings& settings, const Console& console) {
  return or_look(settings, console, ask_health(settings.socket, settings.answer_within),
                 &LocalLook::health);
}

Answered<Answer<Plan>> plan_or_look(const Settings& settings, const Console& console) {
  return or_look(settings, console, ask_plan(settings.socket, settings.answer_within),
                 &LocalLook::plan);
}

}  // namespace pvrdma::ctl
