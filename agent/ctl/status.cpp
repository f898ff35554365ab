// `status`: a line for each adapter. For programs the same object as `health` has: one to learn.
#include "agent/ctl/commands.hpp"
#include "agent/ctl/fallback.hpp"
#include "agent/ctl/rendering.hpp"

namespace pvrdma::ctl {

int status(const Settings& settings, const Console& console) {
  return show_health(settings, console, health_or_look(settings, console), render_status);
}

}  // namespace pvrdma::ctl
