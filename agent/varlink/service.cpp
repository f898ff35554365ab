// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/varlink/service.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "agent/base/file.hpp"
#include "agent/base/guarded.hpp"
#include "agent/base/log.hpp"
#include "agent/varlink/closing.hpp"
#include "agent/varlink/interfaces.hpp"

namespace pvrdma::varlink {

namespace {

Fd stream_socket() { return Fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)}; }

// Whether the listening process at the other end still runs. A process that hangs in the kernel
// keeps its sockets when it is killed: its main thread has ended, and it answers no client.
bool listens_yet(const Fd& connected) {
  const auto stat = peer_of(connected).and_then(
      [](const ucred& listener) { return process_stat(Root{}, listener.pid); });
  return stat ? stat->state != 'Z' : !means_absent(stat.error());
}

Result<void> remove_stale(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0)
    return errno == ENOENT ? Result<void>{} : fail(errno, "looking at", path);
  if (!S_ISSOCK(status.st_mode)) return fail(EEXIST, "listening on", path);
  const Fd probe = stream_socket();
  if (!probe) return fail(errno, "making", "a socket");
  const bool connected =
      ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  // EAGAIN means a living listener with a full queue, EPERM or EACCES a listener that refuses this
  // user.
  const bool refused = !connected && (errno == ECONNREFUSED || errno == ENOENT);
  if (connected ? listens_yet(probe) : !refused) return fail(EADDRINUSE, "listening on", path);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fail(errno, "removing", path);
  return {};
}

// So many connections may wait to be accepted, in the order of their arrival. Further clients wait
// in connect(2), where a process waits once only, however many connections it wants.
constexpr int kBacklog = 256;
constexpr int kAcceptsPerRound = 16;
constexpr Milliseconds kAcceptPause{1000};
// The clients of a crowd leave one after another.
constexpr Milliseconds kCrowdRest{1000};

}  // namespace

Result<ucred> peer_of(const Fd& socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
    return fail(errno, "asking who is", "at the other end");
  return peer;
}

Result<Fd> listening_socket(const std::string& path, unsigned mode) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return fail(ENAMETOOLONG, "listening on", path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  if (auto removed = remove_stale(path, address); !removed) return fail(std::move(removed.error()));

  Fd socket = stream_socket();
  if (!socket) return fail(errno, "making", "a socket");
  // bind(2) gives the file the socket's mode, less the umask (Linux, net/unix/af_unix.c). So the
  // file's mode is never wider, and chmod only restores the bits that the umask removed.
  if (::fchmod(socket.get(), mode) != 0) return fail(errno, "setting the mode of", path);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail(errno, "binding", path);
  if (::chmod(path.c_str(), mode) != 0) return fail(errno, "setting the mode of", path);
  allow_descriptors(socket, false);
  if (::listen(socket.get(), kBacklog) != 0) return fail(errno, "listening on", path);
  return socket;
}

Result<Fd> inherited_socket(Fd socket) {
  int listening = 0;
  socklen_t length = sizeof listening;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_ACCEPTCONN, &listening, &length) != 0)
    return fail(errno, "looking at", "the inherited socket");
  if (listening == 0) return fail(EINVAL, "listening on", "the inherited socket");
  const int flags = ::fcntl(socket.get(), F_GETFL);
  if (flags < 0 || ::fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK) != 0)
    return fail(errno, "setting the flags of", "the inherited socket");
  allow_descriptors(socket, false);
  return socket;
}

Service::Service(sd_event* event, About about, Limits limits)
    : event_(event), about_(std::move(about)), limits_(limits), clients_(limits, ::geteuid()) {
  // Cannot fail, as the text and its handlers are part of this program.
  static_cast<void>(add_own_interface());
}

Result<void> Service::add_interface(std::string_view description,
                                    std::map<std::string, Handler> handlers) {
  auto interface = parse_interface(description);
  if (!interface) return fail(std::move(interface.error()));
  const std::string name = interface->name;
  for (const auto& [method, shape] : interface->methods)
    if (handlers.count(method) == 0) return fail(EINVAL, "adding " + name + ", no handler", method);
  for (const auto& [method, handler] : handlers)
    if (interface->methods.count(method) == 0 || !handler)
      return fail(EINVAL, "adding " + name + ", not a method of it", method);
  Route route{std::string{description}, std::move(*interface), std::move(handlers)};
  if (!routes_.emplace(name, std::move(route)).second)
    return fail(EEXIST, "adding interface", name);
  return {};
}

Result<void> Service::add_own_interface() {
  return add_interface(kServiceInterface, {{"GetInfo",
                                            [this](const CallPtr& call) {
                                              Json names = Json::array();
                                              for (const auto& [name, route] : routes_)
                                                names.push_back(name);
                                              call->reply({{"vendor", about_.vendor},
                                                           {"product", about_.product},
                                                           {"version", about_.version},
                                                           {"url", about_.url},
                                                           {"interfaces", std::move(names)}});
                                            }},
                                           {"GetInterfaceDescription",
                                            [this](const CallPtr& call) { describe(call); }}});
}

void Service::describe(const CallPtr& call) const {
  const auto& name = call->parameters().at("interface").get_ref<const std::string&>();
  const auto found = routes_.find(name);
  if (found == routes_.end())
    call->error("org.varlink.service.InterfaceNotFound", {{"interface", name}});
  else
    call->reply({{"description", found->second.description}});
}

void Service::handle(CallPtr call) {
  const std::string& name = call->method();
  const std::size_t dot = name.rfind('.');
  const auto found = routes_.find(std::string_view{name}.substr(0, dot));
  if (dot == std::string::npos || found == routes_.end())
    return call->error("org.varlink.service.InterfaceNotFound",
                       {{"interface", name.substr(0, dot)}});
  const Route& route = found->second;
  const std::string method = name.substr(dot + 1);
  const auto shape = route.interface.methods.find(method);
  if (shape == route.interface.methods.end())
    return call->error("org.varlink.service.MethodNotFound", {{"method", name}});
  if (const auto wrong =
          mismatch(route.interface, shape->second.in, call->parameters(), Strictness::Request))
    return call->error("org.varlink.service.InvalidParameter", {{"parameter", *wrong}});
  route.handlers.at(method)(std::move(call));
}

void Service::closed(Connection& connection) {
  clients_.remove(connection);
  resume_listening();
  if (clients_.size() == 0 && idle_) idle_();
  if (crowd_rest_ || !crowd_left_ || !clients_.crowd_has_left()) return;
  // Fails only if memory runs out; the next client that leaves tries again.
  if (auto timer = call_after(event_, CLOCK_MONOTONIC, kCrowdRest, on_crowd_rest, this))
    crowd_rest_ = std::move(*timer);
}

int Service::on_crowd_rest(sd_event_source* source, std::uint64_t, void* self) {
  return guarded_callback(source, [&] {
    auto& service = *static_cast<Service*>(self);
    service.crowd_rest_.reset();
    service.clients_.forget_crowd();
    service.crowd_left_();
  });
}

std::int64_t Service::worked_for(uid_t uid) {
  std::uint64_t now = 0;
  sd_event_now(event_, CLOCK_MONOTONIC, &now);
  return clients_.worked_for(uid, now);
}

Result<void> Service::watch(Fd socket) {
  sd_event_source* source = nullptr;
  const int result = sd_event_add_io(event_, &source, socket.get(), EPOLLIN, on_accept, this);
  if (result < 0) return fail(-result, "watching", "a listening socket");
  listeners_.push_back({std::move(socket), EventSource{source}});
  return {};
}

int Service::on_accept(sd_event_source* source, int fd, std::uint32_t, void* self) {
  return guarded_callback(source, [&] {
    for (int i = 0; i < kAcceptsPerRound; ++i)
      if (!static_cast<Service*>(self)->accept_one(fd)) break;
  });
}

bool Service::accept_one(int listening) {
  Fd socket{::accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
  if (!socket) {
    if (errno == EINTR || errno == ECONNABORTED) return true;
    if (errno == EAGAIN) return false;
    say_not_accepted({errno, "accepting", "a client"});
    pause_listening();
    return false;
  }
  const auto peer = peer_of(socket);
  if (!peer) return say_not_accepted(peer.error()), true;
  keep_urgent_bytes(socket);
  if (!clients_.make_room_for(peer->uid)) return close_client(std::move(socket)), true;
  auto connection = Connection::open(event_, std::move(socket), peer->uid, limits_, *this);
  if (!connection) return say_not_accepted(connection.error()), true;
  clients_.add(std::move(*connection));
  not_accepted_ = false;
  return true;
}

void Service::say_not_accepted(const Error& error) {
  if (!std::exchange(not_accepted_, true))
    log::warning("{}; clients get no answer until there is no such error", error.message());
}

void Service::pause_listening() {
  auto timer = call_after(event_, CLOCK_MONOTONIC, kAcceptPause, on_pause_over, this);
  // Without a timer listening would never resume, so it is not paused.
  if (!timer) return;
  pause_ = std::move(*timer);
  for (const auto& listener : listeners_)
    sd_event_source_set_enabled(listener.source.get(), SD_EVENT_OFF);
}

int Service::on_pause_over(sd_event_source* source, std::uint64_t, void* self) {
  return guarded_callback(source, [&] { static_cast<Service*>(self)->resume_listening(); });
}

void Service::resume_listening() {
  if (!pause_) return;
  pause_.reset();
  for (const auto& listener : listeners_)
    sd_event_source_set_enabled(listener.source.get(), SD_EVENT_ON);
}

Result<void> Service::listen(const std::string& path, unsigned mode) {
  return listening_socket(path, mode).and_then([this](Fd socket) {
    return watch(std::move(socket));
  });
}

Result<void> Service::listen_on(Fd socket) {
  return inherited_socket(std::move(socket)).and_then([this](Fd listening) {
    return watch(std::move(listening));
  });
}

}  // namespace pvrdma::varlink
