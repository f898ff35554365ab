// SPDX-License-Identifier: GPL-2.0-or-later
// Running a program: its bounds, and the report of how it ended.
#include "agent/base/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "agent/base/handle.hpp"
#include "agent/base/held_signals.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using test::Tree;

namespace {

constexpr Milliseconds kShort{300};

Program shell(const std::string& script, Milliseconds timeout = std::chrono::seconds{20}) {
  Program program;
  program.words = {"/bin/sh", "-c", script};
  program.timeout = timeout;
  return program;
}

bool nobody_is_left() { return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

// Waits until the process dies, moments after the signal. A zombie counts as dead: in a container
// an orphan stays one, as no process reaps it.
bool ends(pid_t pid) {
  const Fd process{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
  if (!process) return errno == ESRCH;
  pollfd end{process.get(), POLLIN, 0};
  return ::poll(&end, 1, 10'000) == 1;
}

}  // namespace

TEST_CASE("a program's output, both streams in order of arrival, and its status") {
  const auto result = run_program(shell("echo one; echo two >&2; read x || echo no input; exit 3"));
  REQUIRE(result);
  CHECK(result->ended == Ended::Exited);
  CHECK(result->status == 3);
  CHECK(result->output == "one\ntwo\nno input\n");
  CHECK(first_line(result->output) == "one");
  const auto signalled = run_program(shell("kill -SEGV $$"));
  REQUIRE(signalled);
  CHECK(signalled->ended == Ended::Signalled);
  CHECK(signalled->status == SIGSEGV);
}

TEST_CASE("a program's output, or an error that says how it ended") {
  const auto output = [](const std::string& script,
                         Milliseconds timeout = std::chrono::seconds{20}) {
    return output_of(run_program(shell(script, timeout)).value(), "asking", "it");
  };
  CHECK(output("echo one; echo two").value() == "one\ntwo\n");
  CHECK(output("echo no; exit 1").error() == Error{EREMOTEIO, "asking", "it (no)"});
  CHECK(output("exit 3").error() == Error{EREMOTEIO, "asking", "it (status 3)"});
  CHECK(output("echo no; kill -KILL $$").error() == Error{EREMOTEIO, "asking", "it (signal 9)"});
  CHECK(output("yes").error() == Error{EREMOTEIO, "asking", "it (too much output)"});
  CHECK(output("sleep 60", kShort).error() == Error{ETIMEDOUT, "asking", "it"});
}

TEST_CASE("a program's environment is the given one, or the caller's") {
  Program program = shell("echo \"$GIVEN,${HOME+has home}\"");
  program.environment = {"GIVEN=yes"};
  CHECK(run_program(program)->output == "yes,\n");
  program.environment = std::nullopt;
  ::setenv("GIVEN", "mine", 1);
  CHECK(run_program(program)->output.substr(0, 5) == "mine,");
}

TEST_CASE("a program reads the given input from its offset, or nothing") {
  const Tree tree;
  tree.file("/input", "first\nsecond\n");
  const Fd input{::open((tree / "/input").c_str(), O_RDONLY | O_CLOEXEC)};
  REQUIRE(::lseek(input.get(), 6, SEEK_SET) == 6);
  Program program = shell("cat");
  CHECK(run_program(program)->output.empty());
  program.input_fd = input.get();
  CHECK(run_program(program)->output == "second\n");
}

TEST_CASE("a program that takes too long is killed with its children") {
  const Tree tree;
  const BootTime start = BootClock::now();
  // The child would hold the pipe open and outlive the program. The program needs time to write the
  // child's PID.
  const auto result = run_program(shell(
      "sleep 60 & echo $! >" + (tree / "/child").string() + "; wait", std::chrono::seconds{2}));
  REQUIRE(result);
  CHECK(result->ended == Ended::TimedOut);
  CHECK(BootClock::now() - start < std::chrono::seconds{20});
  CHECK(nobody_is_left());
  const pid_t child = std::stoi(tree.read("/child"));
  CHECK(ends(child));
  // A program that has closed its outputs is killed as well.
  CHECK(run_program(shell("exec >&- 2>&-; exec sleep 60", kShort))->ended == Ended::TimedOut);
  CHECK(nobody_is_left());
}

TEST_CASE("a program that blocks its end signal is left behind, and ends by itself") {
  const Tree tree;
  REQUIRE(::mkfifo((tree / "/go").c_str(), 0600) == 0);
  Program program = shell("trap '' TERM; read line <" + (tree / "/go").string(), kShort);
  program.end_signal = SIGTERM;
  const auto result = run_program(program);
  REQUIRE(result);
  CHECK(result->ended == Ended::TimedOut);
  REQUIRE(result->left_behind > 0);
  std::ofstream{tree / "/go"} << "go\n";
  int status = 0;
  CHECK(::waitpid(result->left_behind, &status, 0) == result->left_behind);
  CHECK(status == 0);
}

TEST_CASE("a program that was late can be waited for again") {
  const Tree tree;
  REQUIRE(::mkfifo((tree / "/go").c_str(), 0600) == 0);
  auto running = RunningProgram::start(
      shell("echo begun; read line <" + (tree / "/go").string() + "; exit 3"));
  REQUIRE(running);
  CHECK_FALSE(running->await(BootClock::now() + kShort));
  CHECK(running->result().ended == Ended::TimedOut);
  std::ofstream{tree / "/go"} << "go\n";
  CHECK(running->await(BootClock::now() + std::chrono::seconds{20}));
  CHECK(running->result().ended == Ended::Exited);
  CHECK(running->result().status == 3);
  CHECK(running->result().output == "begun\n");
  CHECK(nobody_is_left());
}

TEST_CASE("blocked signals take effect afterwards") {
  static int came = 0;
  came = 0;
  struct sigaction count {};
  struct sigaction before {};
  count.sa_handler = [](int) { ++came; };
  REQUIRE(::sigaction(SIGUSR1, &count, &before) == 0);
  {
    const HeldSignals held;
    ::raise(SIGUSR1);
    // As in the driver, an interruptible wait runs to its end.
    CHECK(::poll(nullptr, 0, 1) == 0);
    CHECK(came == 0);
  }
  CHECK(came == 1);
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("a program that writes without end is stopped at the limit") {
  Program program = shell("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done");
  program.output_limit_bytes = 100;
  const BootTime start = BootClock::now();
  const auto result = run_program(program);
  REQUIRE(result);
  CHECK(result->ended == Ended::Flooded);
  CHECK(result->output.size() == 100);
  CHECK(BootClock::now() - start < std::chrono::seconds{15});
  CHECK(nobody_is_left());
  Program exact = shell("printf 12345");
  exact.output_limit_bytes = 5;
  CHECK(run_program(exact)->ended == Ended::Exited);
}

TEST_CASE("a program that cannot be started") {
  Program program;
  program.words = {"/nowhere/program"};
  const auto result = run_program(program);
  REQUIRE_FALSE(result);
  CHECK(result.error().message() == "starting /nowhere/program: No such file or directory");
}
