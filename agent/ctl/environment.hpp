// SPDX-License-Identifier: GPL-2.0-or-later
// The ready adapters as environment variables of NCCL, UCX, OpenMPI and perftest. Pure: values in,
// text out.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/model/health.hpp"

namespace pvrdma::ctl {

struct Environment {
  std::vector<std::pair<std::string, std::string>> variables;  // in the order they are printed
  std::string gap;  // why a variable is missing, in one line; empty: none is
};

// For the adapter `name` (function address, RDMA device or netdev), or for all. Adapters that are
// not ready are left out. Error: ENODEV where no adapter has that name, without errno where no
// adapter is ready.
[[nodiscard]] Result<Environment> environment_of(const Health& health,
                                                 const std::optional<std::string>& name);

enum class EnvironmentForm {
  Shell,    // export NAME='value', for eval
  Systemd,  // NAME=value, for EnvironmentFile= (systemd.exec(5))
};
[[nodiscard]] std::string render_environment(const Environment& environment, EnvironmentForm form);

}  // namespace pvrdma::ctl
