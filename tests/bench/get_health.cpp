// SPDX-License-Identifier: GPL-2.0-or-later
// Measures a GetHealth round trip over a real socket with the real service, and how the tail grows
// with the number of clients that ask without pause. Prints a line for each number of clients.
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/handle.hpp"
#include "agent/daemon/agent_service.hpp"
#include "tests/unit/plan/scene.hpp"

namespace {

using namespace pvrdma;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kRoundTrips = 20'000;
constexpr char kRequest[] = R"({"method":"io.pvrdma.Agent.GetHealth"})";  // with its NUL

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::exit(1);
}

// The daemon's service, with the health of a machine with two ready adapters.
[[noreturn]] void serve(const std::string& path, int ready) {
  sd_event* event = nullptr;
  if (sd_event_new(&event) < 0) die("sd_event_new");
  AgentState state;
  state.snapshot = test::ready_scene(2);
  state.plan = test::plan_settled(*state.snapshot);
  state.health = assess({}, *state.snapshot, state.plan, {}, BootClock::now());
  AgentService* served = nullptr;
  AgentService service{
      event,
      [&](const Event& one) {
        if (const auto* question = std::get_if<HealthAsked>(&one))
          served->tell({{question->client, Answer::What::Health, {}}}, state, BootClock::now());
      },
      [] { return std::string{}; }};
  served = &service;
  if (!service.listen(path)) die("listen");
  if (write(ready, "", 1) != 1) die("write");
  sd_event_loop(event);
  std::exit(0);
}

struct Client {
  Fd socket;
  Clock::time_point sent;
};

void ask(Client& client) {
  client.sent = Clock::now();
  if (send(client.socket.get(), kRequest, sizeof kRequest, 0) != sizeof kRequest) die("send");
}

Fd connect_to(const std::string& path) {
  Fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(static_cast<char*>(address.sun_path), sizeof address.sun_path - 1);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    die("connect");
  return socket;
}

// True once the reply is complete: replies end with a NUL.
bool receive(Client& client) {
  static std::vector<char> buffer(1U << 20U);
  const ssize_t got = recv(client.socket.get(), buffer.data(), buffer.size(), 0);
  if (got <= 0) die("recv");
  return buffer[static_cast<std::size_t>(got) - 1] == '\0';
}

void measure(const std::string& path, std::size_t count) {
  std::vector<Client> clients(count);
  const Fd poll{epoll_create1(EPOLL_CLOEXEC)};
  for (std::size_t i = 0; i < count; ++i) {
    clients[i].socket = connect_to(path);
    epoll_event interest{EPOLLIN, {.u64 = i}};
    if (epoll_ctl(poll.get(), EPOLL_CTL_ADD, clients[i].socket.get(), &interest) != 0)
      die("epoll_ctl");
    ask(clients[i]);
  }
  std::vector<double> microseconds;
  std::vector<epoll_event> events(count);
  while (microseconds.size() < kRoundTrips) {
    const int ready = epoll_wait(poll.get(), events.data(), static_cast<int>(count), 5000);
    if (ready <= 0) die("epoll_wait");
    for (int i = 0; i < ready; ++i) {
      Client& client = clients[events[static_cast<std::size_t>(i)].data.u64];
      if (!receive(client)) continue;
      microseconds.push_back(
          std::chrono::duration<double, std::micro>(Clock::now() - client.sent).count());
      ask(client);
    }
  }
  std::sort(microseconds.begin(), microseconds.end());
  std::printf("GetHealth, %3zu clients: median %.0f us, p99 %.0f us\n", count,
              microseconds[microseconds.size() / 2], microseconds[microseconds.size() * 99 / 100]);
}

}  // namespace

int main() {
  rlimit files{4096, 4096};
  setrlimit(RLIMIT_NOFILE, &files);
  const std::string path = "/tmp/pvrdma-bench-" + std::to_string(getpid());
  int ready[2];
  if (pipe(ready) != 0) die("pipe");
  const pid_t server = fork();
  if (server == 0) serve(path, ready[1]);
  char byte = 0;
  if (read(ready[0], &byte, 1) != 1) die("read");
  for (const std::size_t count : {1U, 100U, 500U}) measure(path, count);
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
  unlink(path.c_str());
  return 0;
}
