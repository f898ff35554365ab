// SPDX-License-Identifier: GPL-2.0-or-later
// Runs another program with a limit on its time and on its output.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"

namespace pvrdma {

struct Program {
  std::vector<std::string>
      words;  // its path, or a name to find in this process's PATH; then the arguments
  std::optional<std::vector<std::string>> environment;  // "NAME=value"; none: this process's own
  Milliseconds timeout = std::chrono::seconds{10};
  std::size_t output_limit_bytes = 4096;
  int input_fd = -1;  // standard input, from its present offset; not owned. -1: /dev/null
  // The signal that ends a late program: SIGKILL, or a signal that the program blocks while it must
  // not be interrupted (agent/base/held_signals.hpp).
  int end_signal = SIGKILL;
};

enum class Ended {
  Exited,
  Signalled,  // by a signal of another sender
  TimedOut,   // killed, or still running
  Flooded,    // killed, or still running, as its output exceeded the limit
};

struct ProgramResult {
  Ended ended = Ended::Exited;
  int status = 0;      // exit status, or number of the signal
  std::string output;  // standard output and error in the order received, up to the limit
  // The process that has not ended after its signal, as it hangs in the kernel; 0: none.
  pid_t left_behind = 0;
};

// A running program; its input is `input_fd`, and no signal is blocked in it. The destructor leaves
// the program running and does not reap it.
class RunningProgram {
 public:
  // Error: the errno of starting it.
  [[nodiscard]] static Result<RunningProgram> start(Program program);

  // Reads its output until it has ended, or until the deadline. True: result() is complete. False
  // with Flooded: the next call reads on, and throws away what exceeds the limit.
  [[nodiscard]] bool await(BootTime deadline);
  // Sends the end signal to its process group, and waits a second for its end.
  void end();
  [[nodiscard]] const ProgramResult& result() const noexcept { return result_; }

 private:
  RunningProgram(Program program, pid_t pid, Fd output)
      : program_(std::move(program)), pid_(pid), output_(std::move(output)) {}

  Program program_;
  pid_t pid_ = 0;
  Fd output_;
  ProgramResult result_;
};

// Starts the program and waits for its end. A program that must be killed is killed with its whole
// process group, which is its own. A program that hangs in the kernel and ignores SIGKILL (state D)
// is left behind after a second; the process that inherits it reaps it. Returns within the time-out
// and that second. Error: the errno of starting it.
[[nodiscard]] Result<ProgramResult> run_program(const Program& program);

// Waits for the end of a process, which need not be a child of this one. Returns early where the
// kernel has no pidfds (before 5.3), so the caller looks again.
void await_end(pid_t pid, BootTime deadline);

// The text up to its first newline, for the message of a program that failed.
[[nodiscard]] std::string first_line(const std::string& output);

// The output, if the program exited with status 0. ETIMEDOUT: it took too long. EREMOTEIO: it
// failed; the message ends with its first line, else with its status, its signal, or "too much
// output". `doing` and `what`: those of the error.
[[nodiscard]] Result<std::string> output_of(ProgramResult result, const std::string& doing,
                                            const std::string& what);

// For a program before it reads untrusted data with a library that was not made for such data. This
// process keeps its open files, but from now on can open no file, enlarge none, start no process
// and gain no rights (setrlimit(2), prctl(2), PR_SET_NO_NEW_PRIVS). Root becomes the user "nobody",
// for good. An attack in the data can still signal other processes of that user, and trace them
// where the kernel allows it (ptrace(2)). Error: the errno of the step that failed; the steps
// before it remain.
[[nodiscard]] Result<void> give_up_rights();

}  // namespace pvrdma
