// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/executor/server.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <map>

#include "agent/codec/json.hpp"
#include "agent/varlink/interfaces.hpp"

namespace pvrdma::executor {

Result<uid_t> socket_owner(const RootedPath& place) {
  const auto parent = open_rooted_parent(place, kTrusted);
  if (!parent) return fail(parent.error());
  struct stat status {};
  if (::fstatat(parent->folder.get(), parent->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return fail(errno, "looking at", place.string());
  if (!S_ISSOCK(status.st_mode)) return fail(ENOTSOCK, "looking at", place.string());
  return status.st_uid;
}

Result<uid_t> socket_owner(int socket) {
  constexpr const char* kSocket = "the inherited socket";
  sockaddr_un address{};
  socklen_t length = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    return fail(errno, "looking at", kSocket);
  // Otherwise the socket has no name, or its name is not a path (unix(7)).
  if (address.sun_family != AF_UNIX || length <= offsetof(sockaddr_un, sun_path) ||
      address.sun_path[0] != '/')
    return fail(EINVAL, "looking for the path of", kSocket);
  const std::string path{address.sun_path,
                         ::strnlen(address.sun_path, length - offsetof(sockaddr_un, sun_path))};
  return socket_owner(Root{} / path);
}

Server::Server(sd_event* event, Operations& operations, Options options, Log log)
    : operations_(operations),
      options_(options),
      log_(std::move(log)),
      // Only root and the agent's user may connect, and the CPU time goes into what they ask for:
      // with shares, the agent would rest between the steps of a boot.
      service_(event, "pvrdma-agent-executor", {.cpu_shares = false}),
      idle_end_(event, service_, options_.idle, [this] { return operations_.is_loading(); }) {}

Result<void> Server::listen_on(Fd socket) {
  std::map<std::string, varlink::Handler> handlers;
  for (const auto& [verb, name] : kWordsOf<Verb>)
    handlers[name] = [this, verb = verb](const varlink::CallPtr& call) { handle(verb, call); };
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
  OperationResult result = run(*operation, call->peer_uid());
  log_(*operation, result, BootClock::now() - start);
  if (result.outcome == Outcome::NotAllowed) {
    call->error(varlink::kNotAllowed, {{"verb", to_string(verb)},
                                       {"target", target(*operation)},
                                       {"reason", std::move(result.detail)}});
    return;
  }
  call->reply({{"result", codec::to_json(result)}});
}

OperationResult Server::run(const Operation& operation, uid_t peer) {
  const Caller caller = caller_of(peer, options_.agent_uid);
  if (caller != Caller::Other) return operations_.run(operation, caller);
  return {Outcome::NotAllowed,
          "uid " + std::to_string(peer) + " is neither root nor the agent's user",
          EPERM,
          {}};
}

}  // namespace pvrdma::executor
