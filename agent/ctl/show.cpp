// SPDX-License-Identifier: GPL-2.0-or-later
// `health`, `status`, `plan` and `env`: print the agent's answer once. Where no agent runs, all but
// `health` look at the system themselves. Also the end of any command without a result.
#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "agent/ctl/commands.hpp"
#include "agent/ctl/json_text.hpp"
#include "agent/ctl/rendering.hpp"

namespace pvrdma::ctl {

namespace {

// `answer` or, where no agent runs, the same part of a local look.
template <typename T>
Answered<WithJson<T>> or_look(const Settings& settings, const Console& console,
                              Answered<WithJson<T>> answer, T LocalLook::*part) {
  // An agent that runs but does not answer is an error of its own, and must not be hidden.
  if (answer || !answer.error().not_running() || !settings.look_without_agent) return answer;
  console.complain("pvrdma-agent is not running; this is from a look without it");
  return with_json(settings.look_without_agent().*part);
}

HealthResult health_or_look(const Settings& settings, const Console& console) {
  return or_look(settings, console, ask_health(settings.socket, settings.answer_within),
                 &LocalLook::health);
}

// Why an answer of the agent is unreliable, from its health; none: it is reliable.
std::optional<NoAnswer> why_unknown(const HealthResult& news) {
  if (!news || news->value.state != State::Unknown) return std::nullopt;
  return NoAnswer{"", printable(news->value.summary), "See: pvrdma-agentctl health"};
}

// `unknown` makes the output of --json where there is no answer.
template <typename T>
int show(const Settings& settings, const Console& console, const Answered<WithJson<T>>& answer,
         WithJson<T> (*unknown)(const NoAnswer&), std::string (*render)(const T&, const Style&),
         int code) {
  bool printed = true;
  if (settings.json)
    printed = console.print(dumped(answer ? answer->json : unknown(answer.error()).json) + "\n");
  else if (answer)
    printed = console.print(render(answer->value, console.style()));
  else
    console.complain(answer.error().line());
  return printed && answer ? code : kExitUnknown;
}

}  // namespace

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

int end_without(const Settings& settings, const Console& console, const Error& why, int code) {
  return end_without(settings, console, printable(why.message()), code);
}

int show_health(const Settings& settings, const Console& console, const HealthResult& answer,
                std::string (*render)(const Health& health, const Style& style)) {
  return show(settings, console, answer, unknown_health, render,
              answer ? exit_code(answer->value.state) : kExitUnknown);
}

int health(const Settings& settings, const Console& console) {
  return show_health(settings, console, ask_health(settings.socket, settings.answer_within),
                     render_health);
}

int health_for_monitor(const Settings& settings, const Console& console) {
  if (settings.json)
    return end_without(settings, console, "--plugin is one line of text: not with --json");
  const auto answer = ask_health(settings.socket, settings.answer_within);
  // A monitor reads only standard output.
  const bool printed = console.print(answer ? plugin_line(answer->value, BootClock::now())
                                            : plugin_line(answer.error().line()));
  return printed && answer ? exit_code(answer->value.state) : kExitUnknown;
}

// With --json it prints the same object as `health`.
int status(const Settings& settings, const Console& console) {
  return show_health(settings, console, health_or_look(settings, console), render_status);
}

int plan(const Settings& settings, const Console& console) {
  const auto answer = or_look(settings, console, ask_plan(settings.socket, settings.answer_within),
                              &LocalLook::plan);
  // A plan has no age. The agent's health tells whether the plan is from an old look, or from none.
  const auto why =
      answer ? why_unknown(ask_health(settings.socket, settings.answer_within)) : std::nullopt;
  if (why && !settings.json) return end_without(settings, console, *why);
  return show(settings, console, answer, unknown_plan, render_plan,
              answer && !why ? plan_exit_code(answer->value) : kExitUnknown);
}

int env(const Settings& settings, const Console& console, const EnvOptions& options) {
  const auto health = health_or_look(settings, console);
  if (!health) return end_without(settings, console, health.error());
  if (const auto why = why_unknown(health)) return end_without(settings, console, *why);
  const int code = exit_code(health->value.state);
  const auto environment = environment_of(health->value, options.adapter, options.use);
  if (!environment) {
    const bool is_state = code != 0 && environment.error().code != ENODEV;
    return end_without(settings, console, environment.error(), is_state ? code : kExitUnknown);
  }
  if (!environment->gap.empty()) console.complain(environment->gap);
  if (!settings.json)
    return console.print(render_environment(*environment, options.form)) ? 0 : kExitUnknown;
  Json variables = Json::object();
  for (const auto& [name, value] : environment->variables) variables[name] = value;
  return console.print(dumped(variables) + "\n") ? 0 : kExitUnknown;
}

}  // namespace pvrdma::ctl
