// SPDX-License-Identifier: GPL-2.0-or-later
// What applications need to know of ready adapters, as variables that NCCL, UCX, OpenMPI and
// perftest read. Pure: values in, text out.
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
  std::string gap;  // what could not be put into a variable, in one line; empty: nothing
};

// Of the adapter that `name` names (function address, RDMA device or netdev), or of all. An adapter
// that is not ready has no part in it. An Error: ENODEV where there is no such, no errno where
// none is left.
[[nodiscard]] Result<Environment> environment_of(const Health& health,
                                                 const std::optional<std::string>& name);

enum class EnvironmentForm {
  Shell,    // export NAME='value', for eval
  Systemd,  // NAME=value, for EnvironmentFile= (systemd.exec(5))
};
[[nodiscard]] std::string render_environment(const Environment& environment, EnvironmentForm form);

}  // namespace pvrdma::ctl
