// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/varlink/service.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "agent/base/guarded.hpp"
#include "agent/base/log.hpp"
#include "agent/base/text.hpp"
#include "agent/varlink/closing.hpp"
#include "agent/varlink/interfaces.hpp"
#include "agent/varlink/listening.hpp"
#include "build_config.hpp"

namespace pvrdma::varlink {

namespace {

constexpr int kAcceptsPerRound = 16;
constexpr Milliseconds kAcceptPause{1000};
constexpr std::uint64_t kRestAccuracyUs = 5'000;
// The clients of a crowd leave one after another.
constexpr Milliseconds kCrowdRest{1000};
constexpr std::size_t kToldBackBytes = 256;

// A name from the client for a reply. It is cut, as the replies that many clients do not read would
// fill this process's memory: escaped in JSON, a name takes six times the space of its request.
std::string told_back(std::string_view name) { return printable(name, kToldBackBytes); }

}  // namespace

Service::Service(sd_event* event, std::string product, Limits limits)
    : event_(event), product_(std::move(product)), limits_(limits), clients_(limits, ::geteuid()) {
  // Cannot fail, as the text and its handlers are part of this program.
  static_cast<void>(add_own_interface());
}

Service::~Service() {
  // The close of a listening socket closes those that were not accepted, with what they hold.
  for (const Listener& listener : listeners_) {
    if (!listener.own) continue;
    ::shutdown(listener.socket.get(), SHUT_RDWR);  // no more clients come
    while (PeerSocket{Fd{::accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC)}}) {
    }
  }
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
                                              call->reply({{"vendor", "pvrdma-agent"},
                                                           {"product", product_},
                                                           {"version", PVRDMA_VERSION},
                                                           {"url", ""},
                                                           {"interfaces", std::move(names)}});
                                            }},
                                           {"GetInterfaceDescription",
                                            [this](const CallPtr& call) { describe(call); }}});
}

void Service::describe(const CallPtr& call) const {
  const auto& name = call->parameters().at("interface").get_ref<const std::string&>();
  const auto found = routes_.find(name);
  if (found == routes_.end())
    call->error("org.varlink.service.InterfaceNotFound", {{"interface", told_back(name)}});
  else
    call->reply({{"description", found->second.description}});
}

void Service::handle(CallPtr call) {
  const std::string& name = call->method();
  const std::size_t dot = name.rfind('.');
  const auto found = routes_.find(std::string_view{name}.substr(0, dot));
  if (dot == std::string::npos || found == routes_.end())
    return call->error("org.varlink.service.InterfaceNotFound",
                       {{"interface", told_back(std::string_view{name}.substr(0, dot))}});
  const Route& route = found->second;
  const std::string method = name.substr(dot + 1);
  const auto shape = route.interface.methods.find(method);
  if (shape == route.interface.methods.end())
    return call->error("org.varlink.service.MethodNotFound", {{"method", told_back(name)}});
  if (const auto wrong =
          mismatch(route.interface, shape->second.in, call->parameters(), Strictness::Request))
    return call->error("org.varlink.service.InvalidParameter", {{"parameter", told_back(*wrong)}});
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

std::uint64_t Service::now() const {
  std::uint64_t time = 0;
  sd_event_now(event_, CLOCK_MONOTONIC, &time);
  return time;
}

void Service::spent(uid_t uid, std::uint64_t cpu) {
  if (clients_.spent(uid, cpu, now()) || !rest_) wake(now());
}

void Service::wake(std::uint64_t now) {
  rest_.reset();
  const auto next = clients_.wake(now);
  if (!next) return;
  sd_event_source* source = nullptr;
  // Fails only if memory runs out; the next client that is served tries again.
  if (sd_event_add_time(event_, &source, CLOCK_MONOTONIC, *next, kRestAccuracyUs, on_rest_over,
                        this) >= 0)
    rest_.reset(source);
}

int Service::on_rest_over(sd_event_source* source, std::uint64_t, void* self) {
  return guarded_callback(source, [&] {
    auto& service = *static_cast<Service*>(self);
    service.wake(service.now());
  });
}

Result<void> Service::watch(Fd socket, bool own) {
  auto source = call_on(event_, socket.get(), EPOLLIN, on_accept, this, "a listening socket");
  if (!source) return fail(source.error());
  listeners_.push_back({std::move(socket), std::move(*source), own});
  return {};
}

int Service::on_accept(sd_event_source* source, int fd, std::uint32_t, void* self) {
  return guarded_callback(source, [&] {
    for (int i = 0; i < kAcceptsPerRound; ++i)
      if (!static_cast<Service*>(self)->accept_one(fd)) break;
  });
}

bool Service::accept_one(int listening) {
  const std::uint64_t began = cpu_us();
  PeerSocket socket{Fd{::accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)}};
  if (!socket) {
    if (errno == EINTR || errno == ECONNABORTED) return true;
    if (errno == EAGAIN) return false;
    say_not_accepted({errno, "accepting", "a client"});
    pause_listening();
    return false;
  }
  const auto peer = peer_of(socket.fd());
  if (!peer) return say_not_accepted(peer.error()), true;
  keep_urgent_bytes(socket.fd());
  if (!clients_.make_room_for(peer->uid)) {
    socket = PeerSocket{};
    return spent(peer->uid, cpu_us() - began), true;
  }
  auto connection = Connection::open(event_, std::move(socket), peer->uid, limits_, *this);
  if (!connection) return say_not_accepted(connection.error()), true;
  clients_.add(std::move(*connection));
  spent(peer->uid, cpu_us() - began);
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
    return watch(std::move(socket), /*own=*/true);
  });
}

Result<void> Service::listen_on(Fd socket) {
  return inherited_socket(std::move(socket)).and_then([this](Fd listening) {
    return watch(std::move(listening), /*own=*/false);
  });
}

}  // namespace pvrdma::varlink
