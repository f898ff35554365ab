#include "agent/ctl/migrate/syntax.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "agent/base/handle.hpp"

namespace pvrdma::ctl::moving {

namespace {

// Exit status of timeout(1) and of env(1) for "too long" and "no such program".
constexpr int kTooLong = 124;
constexpr int kNoProgram = 127;

std::string first_line(int fd) {
  std::array<char, 512> text{};
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  const std::string said{text.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
  return said.substr(0, said.find('\n'));
}

// The wait status, or an errno.
Result<int> run(const std::string& interpreter, std::string script, int output) {
  std::string timeout{"timeout"};
  std::string limit{"10"};
  std::string program{interpreter};
  std::string option{"-n"};
  const std::array<char*, 6> arguments{timeout.data(), limit.data(),  program.data(),
                                       option.data(),  script.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  pid_t pid = 0;
  const int code =
      posix_spawnp(&pid, timeout.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) return fail(code, "starting", timeout + " " + interpreter);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return fail(errno, "waiting for", interpreter);
  return status;
}

}  // namespace

Result<void> check_syntax(const std::string& interpreter, const std::filesystem::path& script) {
  const Fd output{::memfd_create("syntax", MFD_CLOEXEC)};
  if (!output) return fail(errno, "making a place for the output of", interpreter);
  const auto status = run(interpreter, script.string(), output.get());
  if (!status) return fail(status.error());
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0) return {};
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == kTooLong)
    return fail(ETIMEDOUT, "checking with " + interpreter + " -n", script);
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == kNoProgram)
    return fail(ENOENT, "starting", interpreter);
  return fail(0, interpreter + " -n does not take the result", first_line(output.get()));
}

}  // namespace pvrdma::ctl::moving
