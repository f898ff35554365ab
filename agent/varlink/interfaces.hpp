// SPDX-License-Identifier: GPL-2.0-or-later
// The sockets of the interfaces, and the texts of the *.varlink files in this folder, which the
// build embeds (embed.py).
#pragma once

#include <string_view>

namespace pvrdma::varlink {

inline constexpr const char* kAgentSocket = "/run/pvrdma-agent/io.pvrdma.Agent";
inline constexpr const char* kExecutorSocket = "/run/pvrdma-agent-executor/io.pvrdma.Executor";

extern const std::string_view kAgentInterface;     // io.pvrdma.Agent
extern const std::string_view kExecutorInterface;  // io.pvrdma.Executor
extern const std::string_view kServiceInterface;   // org.varlink.service, answered by every service

}  // namespace pvrdma::varlink
