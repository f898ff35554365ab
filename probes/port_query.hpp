// ibv_query_port(3) without libibverbs in this process: the program port-query asks, this side
// runs it and reads its line.
//
// The program exists because the providers' libraries would stay in the daemon's memory for ever,
// and because a verbs context held by a hung process must not be the daemon's.
#pragma once

#include <string>
#include <string_view>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"

namespace pvrdma::probes {

struct PortAnswer {
  std::string state;        // "ACTIVE"
  unsigned active_mtu = 0;  // bytes
  friend bool operator==(const PortAnswer&, const PortAnswer&) = default;
};

// "state=ACTIVE phys_state=LINK_UP active_mtu=1024 link_layer=Ethernet". Other keys are passed
// over. EBADMSG: not such a line.
[[nodiscard]] Result<PortAnswer> parse_port_answer(std::string_view line);

// Longer than the program allows itself (port_query_main.cpp), so that its own message comes first.
inline constexpr Milliseconds kPortQueryTimeout = std::chrono::seconds{7};

// Runs `program DEVICE`. ETIMEDOUT: no answer, from the device or within
// `timeout`; EREMOTEIO: it failed, and `what` is its
// one line of reason; otherwise errno of starting it. Takes no longer than `timeout`: the program
// itself opens no device (its child does), so a kill always ends it.
[[nodiscard]] Result<PortAnswer> run_port_query(const std::string& program,
                                                const std::string& device,
                                                Milliseconds timeout = kPortQueryTimeout);

}  // namespace pvrdma::probes
