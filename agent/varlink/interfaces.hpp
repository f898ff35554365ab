// The texts of the *.varlink files in this folder, embedded by the build (embed.py).
#pragma once

#include <string_view>

namespace pvrdma::varlink {

extern const std::string_view kAgentInterface;     // io.pvrdma.Agent
extern const std::string_view kExecutorInterface;  // io.pvrdma.Executor
extern const std::string_view kServiceInterface;   // org.varlink.service, answered by every service

}  // namespace pvrdma::varlink
