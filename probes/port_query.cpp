#include "probes/port_query.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "agent/base/handle.hpp"

namespace pvrdma::probes {

namespace {

constexpr std::size_t kOutputLimitBytes = 4096;
constexpr int kExitTimedOut = 124;  // port_query_main.cpp

// posix_spawn's two parameter objects, initialised and destroyed together.
class SpawnSettings {
 public:
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  SpawnSettings(SpawnSettings&&) = delete;
  SpawnSettings& operator=(SpawnSettings&&) = delete;

  // Both outputs into `output`; no signal blocked, as an sd-event daemon has several blocked.
  int prepare(int output) {
    sigset_t none;
    sigemptyset(&none);
    int code = posix_spawnattr_setsigmask(&attributes_, &none);
    if (code == 0) code = posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
    if (code == 0)
      code = posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
      if (code == 0) code = posix_spawn_file_actions_adddup2(&actions_, output, fd);
    return code;
  }
  int spawn(pid_t& pid, const std::string& program, const std::string& device) {
    std::string name = program;
    std::string argument = device;
    const std::array<char*, 3> arguments{name.data(), argument.data(), nullptr};
    // Nothing of the daemon's environment changes what libibverbs does.
    const std::array<char*, 1> environment{nullptr};
    return posix_spawn(&pid, program.c_str(), &actions_, &attributes_, arguments.data(),
                       environment.data());
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// False: `deadline` came first.
bool wait_readable(int fd, BootTime deadline) {
  for (;;) {
    const auto left = deadline - BootClock::now();
    if (left <= Milliseconds{0}) return false;
    pollfd readable{fd, POLLIN, 0};
    const int ready = ::poll(&readable, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

// Reads until every writer has closed the pipe; false: `deadline` came first.
bool read_until(int fd, BootTime deadline, std::string& output) {
  std::array<char, 512> chunk{};
  while (wait_readable(fd, deadline)) {
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    if (output.size() < kOutputLimitBytes)
      output.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return false;
}

// False: `deadline` came first. Its outputs closed, the program is at its last step, so a kernel
// without pidfds (before 5.3) is trusted to let it end.
bool ends_until(pid_t pid, BootTime deadline) {
#ifdef SYS_pidfd_open
  const Fd process{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
  if (process) return wait_readable(process.get(), deadline);
#endif
  static_cast<void>(pid);
  static_cast<void>(deadline);
  return true;
}

int reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

}  // namespace

Result<PortAnswer> parse_port_answer(std::string_view line) {
  const std::string whole{line.substr(0, line.find('\n'))};
  PortAnswer answer;
  std::string_view rest = whole;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = word.substr(0, equals);
    const std::string_view value = word.substr(equals + 1);
    if (key == "state") answer.state = value;
    if (key == "phys_state") answer.phys_state = value;
    if (key == "link_layer") answer.link_layer = value;
    if (key == "active_mtu")
      std::from_chars(value.data(), value.data() + value.size(), answer.active_mtu);
  }
  if (answer.state.empty() || answer.active_mtu == 0)
    return fail(EBADMSG, "reading the answer of port-query", whole);
  return answer;
}

Result<PortAnswer> run_port_query(const std::string& program, const std::string& device,
                                  Milliseconds timeout) {
  const BootTime deadline = BootClock::now() + timeout;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(errno, "opening a pipe to", program);
  const Fd reading{ends[0]};
  Fd writing{ends[1]};
  SpawnSettings settings;
  pid_t pid = 0;
  int code = settings.prepare(writing.get());
  if (code == 0) code = settings.spawn(pid, program, device);
  if (code != 0) return fail(code, "starting", program);
  writing = Fd{};
  std::string output;
  const bool in_time = read_until(reading.get(), deadline, output) && ends_until(pid, deadline);
  if (!in_time) ::kill(pid, SIGKILL);
  const int status = reap(pid);
  if (!in_time || (WIFEXITED(status) && WEXITSTATUS(status) == kExitTimedOut))
    return fail(ETIMEDOUT, "querying port 1 of", device);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fail(EREMOTEIO, "querying port 1 of " + device,
                "(" + output.substr(0, output.find('\n')) + ")");
  return parse_port_answer(output);
}

}  // namespace pvrdma::probes
