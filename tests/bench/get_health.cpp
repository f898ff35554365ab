// SPDX-License-Identifier: GPL-2.0-or-later
// Measures a GetHealth round trip over a real socket with the real service: alone, and while
// processes of three other users flood the service.
#include <sys/prctl.h>
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
#include <string>
#include <vector>

#include "agent/base/handle.hpp"
#include "agent/daemon/agent_service.hpp"
#include "tests/unit/plan/scene.hpp"

namespace {

using namespace pvrdma;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kRoundTrips = 1'000;
constexpr std::chrono::seconds kAtMost{30};
constexpr int kFlooders = 24;
constexpr char kRequest[] = R"({"method":"io.pvrdma.Agent.GetHealth"})";  // with its NUL

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::exit(1);
}

// The daemon's service, with the health of a machine with two ready adapters.
[[noreturn]] void serve(const std::string& path, int ready) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
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

// Not usable where the service has refused the connection.
Fd connect_to(const std::string& path) {
  Fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(static_cast<char*>(address.sun_path), sizeof address.sun_path - 1);
  const timeval limit{60, 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return {};
  return socket;
}

// Sends calls, watches, halves of calls or junk without pause, reads no answer, and keeps its last
// connections.
[[noreturn]] void flood(const std::string& path, int number) {
  if (setpriority(PRIO_PROCESS, 0, 0) != 0) die("setpriority");
  const std::string call{kRequest, sizeof kRequest};
  std::string calls;
  for (int n = 0; n < 100; ++n) calls += call;
  const std::string watch{R"({"method":"io.pvrdma.Agent.WatchHealth","more":true})"};
  const std::vector<std::string> texts{calls, watch + '\0', call.substr(0, 20),
                                       std::string(200'000, '[')};
  const std::string& text = texts[static_cast<std::size_t>(number) % texts.size()];
  if (setuid(static_cast<uid_t>(2000 + number % 3)) != 0) die("setuid");
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // setuid takes it back
  std::vector<Fd> held(10);
  for (std::size_t n = 0;; ++n) {
    Fd& socket = held[n % held.size()];
    socket = connect_to(path);
    static_cast<void>(send(socket.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
  }
}

// A connection, a call and its answer, which ends with a NUL.
double round_trip_us(const std::string& path) {
  static std::vector<char> buffer(1U << 20U);
  const auto began = Clock::now();
  const Fd socket = connect_to(path);
  if (send(socket.get(), kRequest, sizeof kRequest, MSG_NOSIGNAL) != sizeof kRequest) die("send");
  ssize_t got = 0;
  do {
    got = recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0) die("recv");
  } while (buffer[static_cast<std::size_t>(got) - 1] != '\0');
  return std::chrono::duration<double, std::micro>(Clock::now() - began).count();
}

void measure(const std::string& path, const char* how) {
  std::vector<double> took;
  const auto end = Clock::now() + kAtMost;
  while (took.size() < kRoundTrips && Clock::now() < end) took.push_back(round_trip_us(path));
  std::sort(took.begin(), took.end());
  std::printf("BENCH get-health-%s-p50-us %.0f\n", how, took[took.size() / 2]);
  std::printf("BENCH get-health-%s-p99-us %.0f\n", how, took[took.size() * 99 / 100]);
  std::fflush(stdout);
}

}  // namespace

int main() {
  const std::string path = "/tmp/pvrdma-bench-" + std::to_string(getpid());
  // The service has its unit's priority, and the client too: otherwise its waits for a CPU would be
  // measured.
  if (setpriority(PRIO_PROCESS, 0, -10) != 0) die("setpriority (run it as root)");
  int ready[2];
  if (pipe(ready) != 0) die("pipe");
  std::vector<pid_t> children{fork()};
  if (children[0] == 0) serve(path, ready[1]);
  char byte = 0;
  if (read(ready[0], &byte, 1) != 1) die("read");
  measure(path, "quiet");
  for (int number = 0; number < kFlooders; ++number) {
    children.push_back(fork());
    if (children.back() == 0) flood(path, number);
  }
  measure(path, "flooded");
  for (const pid_t child : children) kill(child, SIGKILL);
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  unlink(path.c_str());
  return 0;
}
