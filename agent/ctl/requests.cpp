// SPDX-License-Identifier: GPL-2.0-or-later
// `reload` and `acknowledge`: root's requests to the agent, and their results.
#include <cerrno>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "agent/codec/json.hpp"
#include "agent/ctl/commands.hpp"
#include "agent/ctl/json_text.hpp"
#include "agent/ctl/rendering.hpp"
#include "agent/varlink/interfaces.hpp"

namespace pvrdma::ctl {

namespace {

// The result of a reload.
struct Told {
  int code = kExitUnknown;
  std::string error;    // for programs; empty: the driver was reloaded
  std::string message;  // one line for a person
  std::vector<Holder> holders;
  Json health;  // after the reload; null: not known
};

Told failed(const NoAnswer& trouble) { return {kExitUnknown, trouble.id, trouble.line(), {}, {}}; }

Told refused(const std::string& error, const Json& parameters) {
  const auto said = [&](const char* key) { return text(parameters, key).value_or("unknown"); };
  if (error == varlink::kInUse)
    return {
        1,
        error,
        "not reloaded: an adapter is in use, so the driver cannot be taken away. Nothing "
        "was changed",
        codec::holders_from(parameters.value("holders", Json{})).value_or(std::vector<Holder>{}),
        {}};
  if (error == varlink::kPermissionDenied)
    return {kExitUnknown, error, "only root may reload: sudo pvrdma-agentctl reload", {}, {}};
  if (error == varlink::kNoSuchAdapter)
    return {kExitUnknown,
            error,
            "there is no PVRDMA adapter " + said("adapter") + ". See: pvrdma-agentctl status",
            {},
            {}};
  if (error == varlink::kReloadFailed)
    return {kExitFailed, error, "not reloaded: " + said("reason"), {}, {}};
  return failed(bad_answer(printable(error)));
}

Told carried_out(Json parameters) {
  auto health = health_in(std::move(parameters));
  if (!health) return failed(health.error());
  const State state = health->value.state;
  // The reload is done; the port may need another moment, which is no failure.
  const int code = state == State::Converging ? 0 : exit_code(state);
  return {code,
          "",
          std::string{"reloaded; now "} + to_string(state) + ": " + health->value.summary,
          {},
          std::move(health->json)};
}

Told ask_to_reload(const Settings& settings, const std::optional<std::string>& adapter) {
  auto reply = call_agent(settings.socket, "Reload", adapter, settings.answer_within,
                          settings.reload_within);
  if (!reply && reply.error().code == ETIMEDOUT)
    return failed(
        no_answer(FindingId::ReloadNotFinished, {}, {{"limit", span(settings.reload_within)}}));
  if (!reply) return failed(explain(reply.error(), settings.socket));
  if (!reply->error.empty()) return refused(reply->error, reply->parameters);
  return carried_out(std::move(reply->parameters));
}

// The refusals of Acknowledge, each with its remedy.
NoAnswer not_acknowledged(const std::string& error, const Json& parameters) {
  if (error == varlink::kPermissionDenied)
    return {error, "only root may acknowledge", "Try: sudo pvrdma-agentctl acknowledge"};
  if (error == varlink::kNoSuchAdapter)
    return {error,
            "no adapter " + text(parameters, "adapter").value_or("unknown") +
                " was removed, or it was acknowledged before",
            "See: pvrdma-agentctl health"};
  return bad_answer(printable(error));
}

HealthResult ask_to_acknowledge(const Settings& settings,
                                const std::optional<std::string>& adapter) {
  auto reply = call_agent(settings.socket, "Acknowledge", adapter, settings.answer_within,
                          settings.answer_within);
  if (!reply) return tl::unexpected{explain(reply.error(), settings.socket)};
  if (!reply->error.empty())
    return tl::unexpected{not_acknowledged(reply->error, reply->parameters)};
  return health_in(std::move(reply->parameters));
}

std::string render_acknowledged(const Health& health, const Style&) {
  return std::string{"now "} + to_string(health.state) + ": " + health.summary + "\n";
}

}  // namespace

int reload(const Settings& settings, const Console& console,
           const std::optional<std::string>& adapter) {
  if (!settings.json) console.progress("reloading vmw_pvrdma ...");
  const Told told = ask_to_reload(settings, adapter);
  if (settings.json) {
    const Json object = {{"reloaded", told.error.empty()},
                         {"error", told.error.empty() ? Json{} : Json(told.error)},
                         {"message", told.message},
                         {"holders", codec::to_json(told.holders)},
                         {"health", told.health}};
    return console.print(dumped(object) + "\n") ? told.code : kExitUnknown;
  }
  console.progress("");
  if (told.error.empty()) return console.print(told.message + "\n") ? told.code : kExitUnknown;
  std::string text = told.message;
  const std::string holders =
      render_holders(told.holders, 2, std::numeric_limits<std::size_t>::max());
  if (!holders.empty()) text += ". Held by:\n" + holders.substr(0, holders.size() - 1);
  console.complain(text);
  return told.code;
}

int acknowledge(const Settings& settings, const Console& console,
                const std::optional<std::string>& adapter) {
  return show_health(settings, console, ask_to_acknowledge(settings, adapter), render_acknowledged);
}

}  // namespace pvrdma::ctl
