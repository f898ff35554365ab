// SPDX-License-Identifier: GPL-2.0-or-later
// Running another program with bounds on its time and on what it writes.
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
      words;  // its path, or a name to be found in this process's PATH; arguments
  std::optional<std::vector<std::string>> environment;  // "NAME=value"; none: this process's own
  Milliseconds timeout = std::chrono::seconds{10};
  std::size_t output_limit_bytes = 4096;
  int input_fd = -1;  // not owned; what it reads, from where that stands. -1: /dev/null
  // How it is ended where it is late: by SIGKILL, or by a signal that it holds back while it must
  // not be interrupted (agent/base/held_signals.hpp).
  int end_signal = SIGKILL;
};

enum class Ended {
  Exited,
  Signalled,  // by a signal that is not ours
  TimedOut,   // killed, or still running
  Flooded,    // killed, as there was more output than the limit
};

struct ProgramResult {
  Ended ended = Ended::Exited;
  int status = 0;      // exit status, or number of the signal
  std::string output;  // standard output and error as they came, no more than the limit
  // The process that was to end and has not, as the kernel holds it; 0: none.
  pid_t left_behind = 0;
};

// A program that runs; its input is `input_fd` and no signal is blocked in it. Its
// destructor leaves it running, unreaped.
class RunningProgram {
 public:
  // errno of starting it.
  [[nodiscard]] static Result<RunningProgram> start(Program program);

  // Reads what it writes until it has ended, or the deadline. True: result() is whole.
  [[nodiscard]] bool await(BootTime deadline);
  // Sends its process group the end signal, and waits a second for the end.
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

// Its input is `input_fd` and no signal is blocked in it. What is killed is killed with all of its
// process group, which is its own. One that the kernel holds and that SIGKILL does not reach (state
// D) is left behind a second later, for whoever inherits it to reap. Returns within the time-out
// and that second. errno of starting it.
[[nodiscard]] Result<ProgramResult> run_program(const Program& program);

// The text up to its first newline: what a program that failed says first.
[[nodiscard]] std::string first_line(const std::string& output);

}  // namespace pvrdma
