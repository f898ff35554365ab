// `health`: one screen about everything, or one line for a monitor.
#include "agent/ctl/commands.hpp"
#include "agent/ctl/failure.hpp"
#include "agent/ctl/plugin_line.hpp"
#include "agent/ctl/rendering.hpp"

namespace pvrdma::ctl {

int health(const Settings& settings, const Console& console) {
  return show_health(settings, console, ask_health(settings.socket, settings.answer_within),
                     render_health);
}

int health_for_monitor(const Settings& settings, const Console& console) {
  if (settings.json)
    return end_without(settings, console, "--plugin is one line of text: not with --json",
                       kExitUnknown);
  const auto answer = ask_health(settings.socket, settings.answer_within);
  // A monitor reads standard output alone.
  const bool printed = console.print(answer ? plugin_line(answer->value, BootClock::now())
                                            : plugin_line(answer.error().line()));
  return printed && answer ? exit_code(answer->value.state) : kExitUnknown;
}

}  // namespace pvrdma::ctl
