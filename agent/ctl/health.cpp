// `health`: one screen about everything.
#include <nlohmann/json.hpp>

#include "agent/ctl/commands.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/ctl/rendering.hpp"

namespace pvrdma::ctl {

int health(const Settings& settings, const Console& console) {
  const auto answer = ask(settings.socket, "GetHealth", "health", settings.answer_within);
  const Json health = answer ? *answer : unknown_health(answer.error());
  bool printed = true;
  if (settings.json)
    printed = console.print(dumped(health) + "\n");
  else if (answer)
    printed = console.print(render_health(health, console.style()));
  else
    console.complain(answer.error().line());
  return printed ? exit_code_of(health) : kExitUnknown;
}

}  // namespace pvrdma::ctl
