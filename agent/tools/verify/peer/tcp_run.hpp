// The same over TCP, to compare with: over the control connection, between lines.
#pragma once

#include "agent/tools/verify/peer/run.hpp"

namespace pvrdma::verify {

[[nodiscard]] Result<void> tcp_ping_pong(const Run& run, Side side, Control& control,
                                         BootTime deadline, std::vector<Nanoseconds>& times);
[[nodiscard]] Result<void> tcp_stream(const Run& run, bool sends, Control& control,
                                      BootTime deadline, Received& received);

}  // namespace pvrdma::verify
