// `plan`: what the agent would do now, and why. Changes nothing.
#include <nlohmann/json.hpp>

#include "agent/ctl/commands.hpp"
#include "agent/ctl/fallback.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/ctl/rendering.hpp"

namespace pvrdma::ctl {

int plan(const Settings& settings, const Console& console) {
  const auto answer = ask_or_look(settings, console, Wanted::Plan);
  if (!answer) {
    if (settings.json)
      console.print(dumped(unknown_plan(answer.error())) + "\n");
    else
      console.complain(answer.error().line());
    return kExitUnknown;
  }
  const bool printed =
      console.print(settings.json ? dumped(*answer) + "\n" : render_plan(*answer, console.style()));
  return printed ? plan_exit_code(*answer) : kExitUnknown;
}

}  // namespace pvrdma::ctl
