// `plan`: what the agent would do now, and why. Changes nothing.
#include "agent/ctl/commands.hpp"
#include "agent/ctl/fallback.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/ctl/rendering.hpp"

namespace pvrdma::ctl {

int plan(const Settings& settings, const Console& console) {
  const auto answer = plan_or_look(settings, console);
  if (!answer) {
    if (settings.json)
      console.print(dumped(unknown_plan(answer.error()).json) + "\n");
    else
      console.complain(answer.error().line());
    return kExitUnknown;
  }
  const bool printed = console.print(settings.json ? dumped(answer->json) + "\n"
                                                   : render_plan(answer->value, console.style()));
  return printed ? plan_exit_code(answer->value) : kExitUnknown;
}

}  // namespace pvrdma::ctl
