// What modprobe loads before vmw_pvrdma, whoever asks for the driver: modprobe.d(5).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/model/field.hpp"
#include "probes/modprobe_config.hpp"

namespace pvrdma::probes {

// The soft dependencies that modprobe.d gives the driver. For a name that only an `install` line
// knows, what that line's modprobe loads (units/pvrdma-agent.modprobe.in). Absent: there are none.
[[nodiscard]] Field<std::vector<std::string>> driver_predecessors(const ModprobeConfig& config);

// The names that "/sbin/modprobe --quiet --all vmxnet3 ib_umad" loads; none of another command.
[[nodiscard]] std::vector<std::string> loaded_by(std::string_view command);

}  // namespace pvrdma::probes
