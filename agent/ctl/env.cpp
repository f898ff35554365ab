// `env`: variables for applications.
#include <nlohmann/json.hpp>

#include "agent/ctl/commands.hpp"
#include "agent/ctl/environment.hpp"
#include "agent/ctl/failure.hpp"
#include "agent/ctl/fallback.hpp"
#include "agent/ctl/fields.hpp"

namespace pvrdma::ctl {

int env(const Settings& settings, const Console& console, const EnvOptions& options) {
  const auto health = health_or_look(settings, console);
  if (!health) return end_without(settings, console, health.error());
  const int code = exit_code(health->value.state);
  const auto environment = environment_of(health->value, options.adapter);
  if (!environment)
    return end_without(settings, console, environment.error().message(),
                       code == 0 ? kExitUnknown : code);
  if (!environment->gap.empty()) console.complain(environment->gap);
  if (!settings.json)
    return console.print(render_environment(*environment, options.form)) ? 0 : kExitUnknown;
  Json variables = Json::object();
  for (const auto& [name, value] : environment->variables) variables[name] = value;
  return console.print(dumped(variables) + "\n") ? 0 : kExitUnknown;
}

}  // namespace pvrdma::ctl
