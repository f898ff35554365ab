// `health`: one screen about everything.
#include "agent/ctl/commands.hpp"
#include "agent/ctl/rendering.hpp"

namespace pvrdma::ctl {

int health(const Settings& settings, const Console& console) {
  return show_health(settings, console, ask_health(settings.socket, settings.answer_within),
                     render_health);
}

}  // namespace pvrdma::ctl
