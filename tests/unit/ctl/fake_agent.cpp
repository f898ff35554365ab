// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/ctl/fake_agent.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-event.h>

#include <cstdlib>
#include <cstring>
#include <future>
#include <stdexcept>
#include <utility>

#include "agent/varlink/interfaces.hpp"

namespace fake {

namespace {

using pvrdma::Fd;
using pvrdma::Handle;
using pvrdma::varlink::CallPtr;
using pvrdma::varlink::Handler;

constexpr int kPatienceMs = 10'000;  // how long a fake waits for a program under test that is stuck

void signal_stop(const Fd& stop) {
  if (eventfd_write(stop.get(), 1) != 0) std::abort();
}

int on_stop(sd_event_source* source, int, std::uint32_t, void*) {
  return sd_event_exit(sd_event_source_get_event(source), 0);
}

void serve(const std::string& socket, const Agent::Handlers& given, int stop,
           std::promise<std::string>& started) {
  sd_event* raw = nullptr;
  if (sd_event_new(&raw) < 0) return started.set_value("sd_event_new");
  const Handle<sd_event, sd_event_unref> event{raw};
  sd_event_add_io(event.get(), nullptr, stop, POLLIN, on_stop, nullptr);
  pvrdma::varlink::Service service{event.get(), "fake agent"};
  Agent::Handlers handlers = given;
  for (const char* name :
       {"GetHealth", "WatchHealth", "GetPlan", "Refresh", "Reload", "Acknowledge", "GetRecording"})
    handlers.emplace(name, refuses("io.pvrdma.Agent.Failed", {{"reason", "not in this test"}}));
  const auto added = service.add_interface(pvrdma::varlink::kAgentInterface, handlers);
  if (!added) return started.set_value(added.error().message());
  const auto listening = service.listen(socket, 0666);
  started.set_value(listening ? "" : listening.error().message());
  if (listening) sd_event_loop(event.get());
}

bool readable(int fd, int stop) {
  pollfd fds[] = {{fd, POLLIN, 0}, {stop, POLLIN, 0}};
  return poll(fds, 2, kPatienceMs) > 0 && fds[1].revents == 0;
}

Fd listening_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  Fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(socket.get(), 16) != 0)
    throw std::runtime_error("cannot listen on " + path);
  return socket;
}

}  // namespace

Directory::Directory() {
  std::string name = std::filesystem::temp_directory_path() / "pvrdma-ctl-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = name;
}
Directory::~Directory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}
std::string Directory::operator/(const std::string& name) const { return path_ / name; }

Agent::Agent(const std::string& socket, const Handlers& handlers) : stop_(eventfd(0, EFD_CLOEXEC)) {
  std::promise<std::string> started;
  auto trouble = started.get_future();
  thread_ =
      std::thread{[socket, handlers, stop = stop_.get(), promise = std::move(started)]() mutable {
        serve(socket, handlers, stop, promise);
      }};
  if (const std::string what = trouble.get(); !what.empty()) {
    thread_.join();
    throw std::runtime_error(what);
  }
}
Agent::~Agent() {
  signal_stop(stop_);
  thread_.join();
}

Handler answers(Json parameters) {
  return [parameters = std::move(parameters)](const CallPtr& call) { call->reply(parameters); };
}
Handler refuses(std::string error, Json parameters) {
  return [error = std::move(error), parameters = std::move(parameters)](const CallPtr& call) {
    call->error(error, parameters);
  };
}
Handler streams(std::vector<Json> healths) {
  // Keeps the calls, as a service keeps its watchers.
  auto calls = std::make_shared<std::vector<CallPtr>>();
  return [healths = std::move(healths), calls](const CallPtr& call) {
    for (const Json& health : healths) call->reply_continues({{"health", health}});
    calls->push_back(call);
  };
}

BadServer::BadServer(const std::string& socket, Behaviour behave) : stop_(eventfd(0, EFD_CLOEXEC)) {
  thread_ = std::thread{[this, listener = listening_socket(socket), behave = std::move(behave)] {
    while (readable(listener.get(), stop_.get())) {
      const Fd connection{accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)};
      ++connections_;
      behave(connection.get(), stop_.get());
    }
  }};
}
BadServer::~BadServer() {
  signal_stop(stop_);
  thread_.join();
}

BadServer::Behaviour says(std::string bytes) {
  return [bytes = std::move(bytes)](int connection, int stop) {
    if (!readable(connection, stop)) return;
    char request[4096];
    if (recv(connection, request, sizeof request, 0) <= 0) return;
    send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  };
}
BadServer::Behaviour stays_silent() {
  return [](int, int stop) { static_cast<void>(readable(stop, stop)); };
}

Screen::Screen() {
  console.out = open_memstream(&out_, &out_size_);
  console.err = open_memstream(&err_, &err_size_);
}
Screen::~Screen() {
  std::fclose(console.out);
  std::fclose(console.err);
  std::free(out_);
  std::free(err_);
}
std::string Screen::out() const {
  std::fflush(console.out);
  return {out_, out_size_};
}
std::string Screen::err() const {
  std::fflush(console.err);
  return {err_, err_size_};
}

pvrdma::ctl::Settings settings(const std::string& socket) {
  pvrdma::ctl::Settings settings;
  settings.socket = socket;
  settings.answer_within = std::chrono::seconds{5};
  settings.reload_within = std::chrono::seconds{5};
  return settings;
}

}  // namespace fake
