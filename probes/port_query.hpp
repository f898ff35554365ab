// SPDX-License-Identifier: GPL-2.0-or-later
// Calls ibv_query_port(3) without libibverbs in this process: runs the program port-query and reads
// its line.
//
// There is a separate program because the providers' libraries would stay in the daemon's memory
// for ever, and because a call that hangs must not hang the daemon and its verbs context. The
// program is never killed: a signal during its wait for the device would spoil a command of another
// process (agent/base/held_signals.hpp).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/base/program.hpp"
#include "agent/model/port_state.hpp"

namespace pvrdma::probes {

struct PortAnswer {
  PortState state = PortState::Nop;
  unsigned active_mtu = 0;  // bytes
  friend bool operator==(const PortAnswer&, const PortAnswer&) = default;
};

// The program's name in ps(1). Another program may have this name too.
inline constexpr const char* kPortQueryName = "port-query";

// "state=ACTIVE active_mtu=1024". Other keys are ignored. EBADMSG: the line has another form.
[[nodiscard]] Result<PortAnswer> parse_port_answer(std::string_view line);

// The limit of the wait for an answer. The driver gives up a command after ten seconds, and
// commands of all processes queue.
inline constexpr Milliseconds kPortQueryPatience = std::chrono::seconds{5};

// Runs port-query, and keeps the queries that have no answer yet.
class PortQuery {
 public:
  explicit PortQuery(std::string program, Milliseconds patience = kPortQueryPatience)
      : program_(std::move(program)), patience_(patience) {}

  // Runs `program DEVICE`. ETIMEDOUT: the device has not answered; the program goes on, and later
  // calls check for its answer instead of starting a second program. EREMOTEIO: the program failed
  // (output_of()); otherwise the errno of starting it.
  [[nodiscard]] Result<PortAnswer> ask(const std::string& device);

 private:
  struct Question {
    RunningProgram program;
    BootTime asked;
  };

  std::string program_;
  Milliseconds patience_;
  std::map<std::string, Question> open_;  // by the name of the device
};

}  // namespace pvrdma::probes
