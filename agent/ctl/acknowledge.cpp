// `acknowledge`: tells the agent that adapters removed from the running VM are not missed.
#include <nlohmann/json.hpp>
#include <utility>

#include "agent/ctl/commands.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/ctl/text.hpp"
#include "agent/varlink/client.hpp"

namespace pvrdma::ctl {

namespace {

// The refusals of the interface, each with what to do.
NoAnswer not_acknowledged(const std::string& error, const Json& parameters) {
  if (error == "io.pvrdma.Agent.PermissionDenied")
    return {error, "only root may acknowledge", "Try: sudo pvrdma-agentctl acknowledge"};
  if (error == "io.pvrdma.Agent.NoSuchAdapter")
    return {error,
            "no adapter " + text(parameters, "adapter").value_or("unknown") +
                " was removed, or it was acknowledged before",
            "See: pvrdma-agentctl health"};
  return bad_answer(printable(error));
}

Answered<Answer<Health>> ask_to_acknowledge(const Settings& settings,
                                            const std::optional<std::string>& adapter) {
  auto client = varlink::Client::connect(settings.socket, settings.answer_within);
  if (!client) return tl::unexpected{explain(client.error(), settings.socket)};
  Json parameters = Json::object();
  if (adapter) parameters["adapter"] = *adapter;
  auto reply = client->call("io.pvrdma.Agent.Acknowledge", parameters, settings.answer_within);
  if (!reply) return tl::unexpected{explain(reply.error(), settings.socket)};
  if (!reply->error.empty())
    return tl::unexpected{not_acknowledged(reply->error, reply->parameters)};
  return health_in(std::move(reply->parameters));
}

}  // namespace

int acknowledge(const Settings& settings, const Console& console,
                const std::optional<std::string>& adapter) {
  const auto health = ask_to_acknowledge(settings, adapter);
  const int code = health ? exit_code(health->value.state) : kExitUnknown;
  if (settings.json)
    return console.print(dumped(health ? health->json : unknown_health(health.error()).json) + "\n")
               ? code
               : kExitUnknown;
  if (!health) {
    console.complain(health.error().line());
    return kExitUnknown;
  }
  const std::string line =
      std::string{"now "} + to_string(health->value.state) + ": " + health->value.summary + "\n";
  return console.print(line) ? code : kExitUnknown;
}

}  // namespace pvrdma::ctl
