#include "agent/executor/server.hpp"

#include <cerrno>
#include <map>

#include "agent/codec/json.hpp"
#include "agent/varlink/interfaces.hpp"

namespace pvrdma::executor {

Server::Server(sd_event* event, Operations& operations, Options options, Log log)
    : operations_(operations),
      options_(std::move(options)),
      log_(std::move(log)),
      service_(event, {"pvrdma-agent", "pvrdma-agent-executor", options_.version, ""}),
      idle_end_(event, service_, options_.idle) {}

Result<void> Server::listen_on(Fd socket) {
  std::map<std::string, varlink::Handler> handlers;
  for (const Verb verb : kVerbs)
    handlers[to_string(verb)] = [this, verb](const varlink::CallPtr& call) { handle(verb, call); };
  auto added = service_.add_interface(varlink::kExecutorInterface, std::move(handlers));
  if (!added) return added;
  if (auto started = idle_end_.start(); !started) return started;
  return service_.listen_on(std::move(socket));
}

void Server::handle(Verb verb, const varlink::CallPtr& call) {
  const auto operation = codec::operation_from(verb, call->parameters());
  if (!operation) {
    call->error("org.varlink.service.InvalidParameter", {{"parameter", operation.error().what}});
    return;
  }
  const BootTime start = BootClock::now();
  Report report = run(*operation, call->peer_uid());
  log_(*operation, report, BootClock::now() - start);
  if (report.outcome == Outcome::NotAllowed) {
    call->error("io.pvrdma.Executor.NotAllowed", {{"verb", to_string(verb)},
                                                  {"target", target(*operation)},
                                                  {"reason", std::move(report.detail)}});
    return;
  }
  call->reply({{"result", codec::to_json(report)}});
}

Report Server::run(const Operation& operation, uid_t peer) {
  if (peer == 0) return operations_.run(operation, Caller::Root);
  if (peer == options_.agent_uid) return operations_.run(operation, Caller::Agent);
  return {Outcome::NotAllowed,
          "uid " + std::to_string(peer) + " is neither root nor the agent's user",
          EPERM,
          {}};
}

}  // namespace pvrdma::executor
