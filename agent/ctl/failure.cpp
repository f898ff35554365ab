#include "agent/ctl/failure.hpp"

#include <nlohmann/json.hpp>

#include "agent/ctl/fields.hpp"

namespace pvrdma::ctl {

int show_health(const Settings& settings, const Console& console,
                const Answered<Answer<Health>>& answer,
                std::string (*render)(const Health& health, const Style& style)) {
  bool printed = true;
  if (settings.json)
    printed =
        console.print(dumped(answer ? answer->json : unknown_health(answer.error()).json) + "\n");
  else if (answer)
    printed = console.print(render(answer->value, console.style()));
  else
    console.complain(answer.error().line());
  return printed && answer ? exit_code(answer->value.state) : kExitUnknown;
}

int end_without(const Settings& settings, const Console& console, const NoAnswer& why, int code) {
  if (!settings.json) {
    console.complain(why.remedy.empty() ? why.summary : why.line());
    return code;
  }
  Json error = {{"message", why.summary}};
  if (!why.id.empty()) error["id"] = why.id;
  if (!why.remedy.empty()) error["remedy"] = why.remedy;
  console.print(dumped({{"error", std::move(error)}}) + "\n");
  return code;
}

int end_without(const Settings& settings, const Console& console, const std::string& why,
                int code) {
  return end_without(settings, console, NoAnswer{"", why, ""}, code);
}

}  // namespace pvrdma::ctl
