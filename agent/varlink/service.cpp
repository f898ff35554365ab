// Listening, limits on clients, and the way from a method's name to its handler. What happens on
// one connection is connection.cpp's.
#include "agent/varlink/service.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <utility>
#include <vector>

#include "agent/base/guarded.hpp"
#include "agent/varlink/clients.hpp"
#include "agent/varlink/connection.hpp"
#include "agent/varlink/interface.hpp"
#include "agent/varlink/interfaces.hpp"
#include "agent/varlink/listener.hpp"
#include "agent/varlink/message.hpp"

namespace pvrdma::varlink {

namespace {

constexpr int kAcceptsPerRound = 16;
constexpr Milliseconds kAcceptPause{1000};

struct Route {
  std::string description;
  Interface interface;
  std::map<std::string, Handler> handlers;
};

Result<uid_t> peer_uid(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
    return fail(errno, "asking who is", "a client");
  return peer.uid;
}

}  // namespace

struct Service::Impl final : Connection::Owner {
  Impl(sd_event* event_loop, About about_us, Limits its_limits)
      : event(event_loop),
        about(std::move(about_us)),
        limits(its_limits),
        clients(its_limits, ::geteuid()) {}

  void handle(CallPtr call) override;
  void closed(Connection& connection) override;

  Result<void> add(std::string_view description, std::map<std::string, Handler> handlers);
  Result<void> add_own_interface();
  void describe(const CallPtr& call) const;
  Result<void> watch(Fd socket);
  static int on_accept(sd_event_source* source, int fd, std::uint32_t events, void* self);
  static int on_pause_over(sd_event_source* source, std::uint64_t when, void* self);
  // False: nobody waits, or nobody can be accepted now.
  bool accept_one(int listening);
  // Out of descriptors: accept(2) would fail, and the loop spin, until some are free.
  void pause_listening();
  void resume_listening();

  struct Listener {
    Fd socket;
    EventSource source;  // after its fd, so that it goes first
  };
  sd_event* event;
  About about;
  Limits limits;
  std::map<std::string, Route, std::less<>> routes;
  std::vector<Listener> listeners;
  EventSource pause;
  bool paused = false;
  Clients clients;
  std::function<void()> idle;
};

Result<void> Service::Impl::add(std::string_view description,
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
  if (!routes.emplace(name, std::move(route)).second) return fail(EEXIST, "adding interface", name);
  return {};
}

Result<void> Service::Impl::add_own_interface() {
  return add(kServiceInterface,
             {{"GetInfo",
               [this](const CallPtr& call) {
                 Json names = Json::array();
                 for (const auto& [name, route] : routes) names.push_back(name);
                 call->reply({{"vendor", about.vendor},
                              {"product", about.product},
                              {"version", about.version},
                              {"url", about.url},
                              {"interfaces", std::move(names)}});
               }},
              {"GetInterfaceDescription", [this](const CallPtr& call) { describe(call); }}});
}

void Service::Impl::describe(const CallPtr& call) const {
  const auto& name = call->parameters().at("interface").get_ref<const std::string&>();
  const auto found = routes.find(name);
  if (found == routes.end())
    call->error("org.varlink.service.InterfaceNotFound", {{"interface", name}});
  else
    call->reply({{"description", found->second.description}});
}

void Service::Impl::handle(CallPtr call) {
  const std::string& name = call->method();
  const std::size_t dot = name.rfind('.');
  const auto found = routes.find(std::string_view{name}.substr(0, dot));
  if (dot == std::string::npos || found == routes.end())
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

void Service::Impl::closed(Connection& connection) {
  clients.remove(connection);
  resume_listening();
  if (clients.size() == 0 && idle) idle();
}

Result<void> Service::Impl::watch(Fd socket) {
  sd_event_source* source = nullptr;
  const int result = sd_event_add_io(event, &source, socket.get(), EPOLLIN, on_accept, this);
  if (result < 0) return fail(-result, "watching", "a listening socket");
  listeners.push_back({std::move(socket), EventSource{source}});
  return {};
}

int Service::Impl::on_accept(sd_event_source* source, int fd, std::uint32_t, void* self) {
  return guarded_callback(source, [&] {
    for (int i = 0; i < kAcceptsPerRound; ++i)
      if (!static_cast<Impl*>(self)->accept_one(fd)) break;
  });
}

bool Service::Impl::accept_one(int listening) {
  Fd socket{::accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
  if (!socket) {
    if (errno == EINTR || errno == ECONNABORTED) return true;
    if (errno != EAGAIN) pause_listening();
    return false;
  }
  const auto uid = peer_uid(socket.get());
  if (!uid || !clients.make_room_for(*uid)) return true;  // closes it
  auto connection = Connection::open(event, std::move(socket), *uid, limits, *this);
  if (connection) clients.add(std::move(*connection));
  return true;
}

void Service::Impl::pause_listening() {
  auto timer = call_after(event, CLOCK_MONOTONIC, kAcceptPause, on_pause_over, this);
  // Without a timer it would never come back: rather spin.
  if (!timer) return;
  pause = std::move(*timer);
  paused = true;
  for (const auto& listener : listeners)
    sd_event_source_set_enabled(listener.source.get(), SD_EVENT_OFF);
}

int Service::Impl::on_pause_over(sd_event_source* source, std::uint64_t, void* self) {
  return guarded_callback(source, [&] { static_cast<Impl*>(self)->resume_listening(); });
}

void Service::Impl::resume_listening() {
  if (!paused) return;
  paused = false;
  pause.reset();
  for (const auto& listener : listeners)
    sd_event_source_set_enabled(listener.source.get(), SD_EVENT_ON);
}

Service::Service(sd_event* event, About about, Limits limits)
    : impl_(std::make_unique<Impl>(event, std::move(about), limits)) {
  // Its text is part of this program and has its handlers: it cannot fail.
  static_cast<void>(impl_->add_own_interface());
}

Service::~Service() = default;

Result<void> Service::add_interface(std::string_view description,
                                    std::map<std::string, Handler> handlers) {
  return impl_->add(description, std::move(handlers));
}

Result<void> Service::listen(const std::string& path, unsigned mode) {
  auto socket = listening_socket(path, mode);
  if (!socket) return fail(std::move(socket.error()));
  return impl_->watch(std::move(*socket));
}

Result<void> Service::listen_on(Fd socket) {
  auto listening = inherited_socket(std::move(socket));
  if (!listening) return fail(std::move(listening.error()));
  return impl_->watch(std::move(*listening));
}

std::size_t Service::clients() const { return impl_->clients.size(); }

void Service::on_idle(std::function<void()> callback) { impl_->idle = std::move(callback); }

}  // namespace pvrdma::varlink
