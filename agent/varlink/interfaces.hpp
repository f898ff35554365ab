// SPDX-License-Identifier: GPL-2.0-or-later
// The sockets of the interfaces, the names of their errors, and the texts of the *.varlink files in
// this folder, which the build embeds (embed.py).
#pragma once

#include <string_view>

namespace pvrdma::varlink {

inline constexpr const char* kAgentSocket = "/run/pvrdma-agent/io.pvrdma.Agent";
inline constexpr const char* kExecutorSocket = "/run/pvrdma-agent-executor/io.pvrdma.Executor";

// Errors of io.pvrdma.Agent.
inline constexpr const char* kPermissionDenied = "io.pvrdma.Agent.PermissionDenied";
inline constexpr const char* kNoSuchAdapter = "io.pvrdma.Agent.NoSuchAdapter";
inline constexpr const char* kInUse = "io.pvrdma.Agent.InUse";
inline constexpr const char* kReloadFailed = "io.pvrdma.Agent.Failed";
// The only error with which the executor answers a call that it understood.
inline constexpr const char* kNotAllowed = "io.pvrdma.Executor.NotAllowed";

extern const std::string_view kAgentInterface;     // io.pvrdma.Agent
extern const std::string_view kExecutorInterface;  // io.pvrdma.Executor
extern const std::string_view kServiceInterface;   // org.varlink.service, answered by every service

}  // namespace pvrdma::varlink
