// SPDX-License-Identifier: GPL-2.0-or-later
// ibv_query_port(3) without libibverbs in this process: the program port-query asks, this side
// runs it and reads its line.
//
// The program exists because the providers' libraries would stay in the daemon's memory for ever,
// and because a verbs context held by a hung process must not be the daemon's. It is never killed:
// a signal that ends its wait for the device would spoil another process's verb
// (agent/base/held_signals.hpp).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/base/program.hpp"

namespace pvrdma::probes {

struct PortAnswer {
  std::string state;        // "ACTIVE"
  unsigned active_mtu = 0;  // bytes
  friend bool operator==(const PortAnswer&, const PortAnswer&) = default;
};

// "state=ACTIVE phys_state=LINK_UP active_mtu=1024 link_layer=Ethernet". Other keys are passed
// over. EBADMSG: not such a line.
[[nodiscard]] Result<PortAnswer> parse_port_answer(std::string_view line);

// How long an answer is waited for. The driver gives up a command after ten seconds, and commands
// queue behind those of others.
inline constexpr Milliseconds kPortQueryPatience = std::chrono::seconds{5};

// What is asked of devices, and has not been answered.
class PortQuery {
 public:
  explicit PortQuery(std::string program, Milliseconds patience = kPortQueryPatience)
      : program_(std::move(program)), patience_(patience) {}

  // Runs `program DEVICE`. ETIMEDOUT: the device has not answered; the program is left to finish,
  // and later calls look for its answer, without waiting, and start no second one. EREMOTEIO: it
  // failed, and `what` is its one line of reason; otherwise errno of starting it.
  [[nodiscard]] Result<PortAnswer> ask(const std::string& device);

 private:
  struct Question {
    RunningProgram program;
    BootTime asked;
  };

  std::string program_;
  Milliseconds patience_;
  std::map<std::string, Question> open_;  // by the device's name
};

}  // namespace pvrdma::probes
