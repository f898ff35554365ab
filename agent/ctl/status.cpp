// `status`: a line for each adapter.
#include <nlohmann/json.hpp>

#include "agent/ctl/commands.hpp"
#include "agent/ctl/fallback.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/ctl/rendering.hpp"

namespace pvrdma::ctl {

int status(const Settings& settings, const Console& console) {
  const auto answer = ask_or_look(settings, console, Wanted::Health);
  const Json health = answer ? *answer : unknown_health(answer.error());
  bool printed = true;
  // The same object as `health` prints: one form for programs to learn.
  if (settings.json)
    printed = console.print(dumped(health) + "\n");
  else if (answer)
    printed = console.print(render_status(health, console.style()));
  else
    console.complain(answer.error().line());
  return printed ? exit_code_of(health) : kExitUnknown;
}

}  // namespace pvrdma::ctl
