// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/varlink/service.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "agent/base/guarded.hpp"
#include "agent/varlink/interfaces.hpp"
#include "agent/varlink/listener.hpp"

namespace pvrdma::varlink {

namespace {

constexpr int kAcceptsPerRound = 16;
constexpr Milliseconds kAcceptPause{1000};

}  // namespace

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
    if (errno != EAGAIN) pause_listening();
    return false;
  }
  const auto peer = peer_of(socket);
  // Destroys `socket`, which closes the connection.
  if (!peer || !clients_.make_room_for(peer->uid)) return true;
  auto connection = Connection::open(event_, std::move(socket), peer->uid, limits_, *this);
  if (connection) clients_.add(std::move(connection));
  return true;
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
