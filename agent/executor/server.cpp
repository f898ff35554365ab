#include "agent/executor/server.hpp"

#include <cerrno>
#include <map>

#include "agent/base/guarded.hpp"
#include "agent/codec/json.hpp"
#include "agent/varlink/interfaces.hpp"

namespace pvrdma::executor {

Server::Server(sd_event* event, Operations& operations, Options options, Log log)
    : event_(event),
      operations_(operations),
      options_(std::move(options)),
      log_(std::move(log)),
      service_(event, {"pvrdma-agent", "pvrdma-agent-executor", options_.version, ""}) {}

Result<void> Server::listen_on(Fd socket) {
  std::map<std::string, varlink::Handler> handlers;
  for (const Verb verb : kVerbs)
    handlers[to_string(verb)] = [this, verb](const varlink::CallPtr& call) { handle(verb, call); };
  auto added = service_.add_interface(varlink::kExecutorInterface, std::move(handlers));
  if (!added) return added;
  // A timer that cannot be set leaves the executor running: no harm, and the next try may succeed.
  service_.on_idle([this] { static_cast<void>(start_idle_timer()); });
  if (auto started = start_idle_timer(); !started) return started;
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

Result<void> Server::start_idle_timer() {
  std::uint64_t now = 0;
  sd_event_source* source = nullptr;
  int result = sd_event_now(event_, CLOCK_MONOTONIC, &now);
  const auto later = static_cast<std::uint64_t>(std::chrono::microseconds{options_.idle}.count());
  if (result >= 0)
    result =
        sd_event_add_time(event_, &source, CLOCK_MONOTONIC, now + later, 0, on_idle_timer, this);
  idle_timer_.reset(source);
  if (result < 0) return fail(-result, "setting", "the idle timer");
  return {};
}

int Server::on_idle_timer(sd_event_source* source, std::uint64_t, void* self) {
  return guarded_callback(source, [self] {
    auto& server = *static_cast<Server*>(self);
    // Whoever connects from here on finds the socket unit listening.
    return server.service_.clients() == 0 ? sd_event_exit(server.event_, 0) : 0;
  });
}

}  // namespace pvrdma::executor
