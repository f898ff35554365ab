// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/base/program.hpp"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace pvrdma {

namespace {

constexpr Milliseconds kGrace = std::chrono::seconds{1};  // from the signal to the end
constexpr Milliseconds kReapInterval{20};                 // on kernels without pidfds

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> found;
  found.reserve(words.size() + 1);
  for (std::string& word : words) found.push_back(word.data());
  found.push_back(nullptr);
  return found;
}

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

  // `input` may be -1. Standard output and error go into `output`. Unblocks all signals, as an
  // sd-event daemon has some blocked.
  int prepare(int input, int output) {
    sigset_t none;
    sigemptyset(&none);
    int code = posix_spawnattr_setsigmask(&attributes_, &none);
    if (code == 0) code = posix_spawnattr_setpgroup(&attributes_, 0);
    if (code == 0)
      code = posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    if (code == 0 && input < 0)
      code = posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (code == 0 && input >= 0)
      code = posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
      if (code == 0) code = posix_spawn_file_actions_adddup2(&actions_, output, fd);
    return code;
  }
  int spawn(pid_t& pid, const Program& program) {
    std::vector<std::string> words = program.words;
    std::vector<std::string> variables = program.environment.value_or(std::vector<std::string>{});
    const std::vector<char*> environment = pointers(variables);
    return posix_spawnp(&pid, words.front().c_str(), &actions_, &attributes_,
                        pointers(words).data(), program.environment ? environment.data() : environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// Reads until every writer has closed the pipe, which yields Exited. Otherwise yields why it
// stopped.
Ended read_output(int fd, const Program& program, BootTime deadline, std::string& output) {
  std::array<char, 4096> chunk{};
  for (;;) {
    // The deadline also ends a program that writes without end.
    if (BootClock::now() >= deadline || poll_until(fd, POLLIN, deadline) != 0)
      return Ended::TimedOut;
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Ended::Exited;
    const std::size_t room = program.output_limit_bytes - output.size();
    const auto size = static_cast<std::size_t>(got);
    output.append(chunk.data(), std::min(size, room));
    if (size > room) return Ended::Flooded;
  }
}

// Readable once the process has ended; empty where the kernel has no pidfds (before 5.3).
Fd watch(pid_t pid) {
#ifdef SYS_pidfd_open
  return Fd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
#else
  static_cast<void>(pid);
  return Fd{};
#endif
}

void await_end_of(const Fd& process, BootTime deadline) {
  const BootTime soon = BootClock::now() + kReapInterval;
  static_cast<void>(
      poll_until(process.get(), POLLIN, process ? deadline : std::min(deadline, soon)));
}

// The wait status; none: the process has not ended by `deadline`.
std::optional<int> reap(pid_t pid, BootTime deadline) {
  const Fd process = watch(pid);
  for (;;) {
    int status = 0;
    const pid_t reaped = ::waitpid(pid, &status, WNOHANG);
    if (reaped == pid) return status;
    if ((reaped < 0 && errno != EINTR) || BootClock::now() >= deadline) return std::nullopt;
    await_end_of(process, deadline);
  }
}

constexpr uid_t kNobody = 65534;  // user and group (systemd, docs/UIDS-GIDS.md)

}  // namespace

Result<RunningProgram> RunningProgram::start(Program program) {
  const std::string& name = program.words.front();
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(errno, "opening a pipe to", name);
  Fd reading{ends[0]};
  const Fd writing{ends[1]};
  SpawnSettings settings;
  pid_t pid = 0;
  int code = settings.prepare(program.input_fd, writing.get());
  if (code == 0) code = settings.spawn(pid, program);
  if (code != 0) return fail(code, "starting", name);
  return RunningProgram{std::move(program), pid, std::move(reading)};
}

bool RunningProgram::await(BootTime deadline) {
  result_.ended = read_output(output_.get(), program_, deadline, result_.output);
  if (result_.ended != Ended::Exited) return false;
  const auto status = reap(pid_, deadline);
  if (!status) {
    result_.ended = Ended::TimedOut;
    return false;
  }
  if (WIFSIGNALED(*status)) result_.ended = Ended::Signalled;
  result_.status = WIFSIGNALED(*status) ? WTERMSIG(*status) : WEXITSTATUS(*status);
  return true;
}

void RunningProgram::end() {
  ::kill(-pid_, program_.end_signal);
  if (!reap(pid_, BootClock::now() + kGrace)) result_.left_behind = pid_;
}

Result<ProgramResult> run_program(const Program& program) {
  const BootTime deadline = BootClock::now() + program.timeout;
  auto running = RunningProgram::start(program);
  if (!running) return fail(running.error());
  if (!running->await(deadline)) running->end();
  return running->result();
}

void await_end(pid_t pid, BootTime deadline) {
  const Fd process = watch(pid);
  if (process || errno != ESRCH) await_end_of(process, deadline);
}

std::string first_line(const std::string& output) { return output.substr(0, output.find('\n')); }

Result<std::string> output_of(ProgramResult result, const std::string& doing,
                              const std::string& what) {
  const std::string number = std::to_string(result.status);
  std::string why = first_line(result.output);
  switch (result.ended) {
    case Ended::Exited:
      if (result.status == 0) return std::move(result.output);
      if (why.empty()) why = "status " + number;
      break;
    case Ended::Signalled:
      why = "signal " + number;
      break;
    case Ended::TimedOut:
      return fail(ETIMEDOUT, doing, what);
    case Ended::Flooded:
      why = "too much output";
  }
  return fail(EREMOTEIO, doing, what + " (" + why + ")");
}

Result<void> give_up_rights() {
  if (::geteuid() == 0) {
    if (::setgroups(0, nullptr) != 0) return fail(errno, "leaving", "root's groups");
    if (::setresgid(kNobody, kNobody, kNobody) != 0)
      return fail(errno, "taking", "the group of nobody");
    if (::setresuid(kNobody, kNobody, kNobody) != 0)
      return fail(errno, "becoming", "the user nobody");
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return fail(errno, "giving up", "rights of programs to come");
  constexpr rlimit kNone{0, 0};
  for (const auto resource : {RLIMIT_FSIZE, RLIMIT_NPROC, RLIMIT_NOFILE})
    if (::setrlimit(resource, &kNone) != 0)
      return fail(errno, "limiting", "files and processes to those that there are");
  return {};
}

}  // namespace pvrdma
