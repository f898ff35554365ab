// Running another program with bounds on its time and on what it writes.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"

namespace pvrdma {

struct Program {
  std::vector<std::string>
      words;  // its path, or a name to be found in this process's PATH; arguments
  std::optional<std::vector<std::string>> environment;  // "NAME=value"; none: this process's own
  Milliseconds timeout = std::chrono::seconds{10};
  std::size_t output_limit_bytes = 4096;
  int input_fd = -1;  // not owned; what it reads, from where that stands. -1: /dev/null
};

enum class Ended {
  Exited,
  Signalled,  // by a signal that is not ours
  TimedOut,   // killed
  Flooded,    // killed, as there was more output than the limit
};

struct ProgramResult {
  Ended ended = Ended::Exited;
  int status = 0;      // exit status, or number of the signal
  std::string output;  // standard output and error as they came, no more than the limit
  // The process that was killed and has not ended, as the kernel holds it; 0: none.
  pid_t left_behind = 0;
};

// Its input is `input_fd` and no signal is blocked in it. What is killed is killed with all of its
// process group, which is its own. One that the kernel holds and that SIGKILL does not reach (state
// D) is left behind a second later, for whoever inherits it to reap. Returns within the time-out
// and that second. errno of starting it.
[[nodiscard]] Result<ProgramResult> run_program(const Program& program);

// The text up to its first newline: what a program that failed says first.
[[nodiscard]] std::string first_line(const std::string& output);

}  // namespace pvrdma
