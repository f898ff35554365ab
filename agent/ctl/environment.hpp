// What applications need to know of ready adapters, as variables that NCCL, UCX, OpenMPI and
// perftest read. Pure: Json in, text out.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/base/error.hpp"

namespace pvrdma::ctl {

using Json = nlohmann::json;

struct Environment {
  std::vector<std::pair<std::string, std::string>> variables;  // in the order they are printed
  std::string gap;  // what could not be put into a variable, in one line; empty: nothing
};

// Of the adapter that `name` names (function address, RDMA device or netdev), or of all. An adapter
// that is not ready has no part in it. An Error without errno: none is left, or there is no such.
[[nodiscard]] Result<Environment> environment_of(const Json& health,
                                                 const std::optional<std::string>& name);

enum class EnvironmentForm {
  Shell,    // export NAME='value', for eval
  Systemd,  // NAME=value, for EnvironmentFile= (systemd.exec(5))
};
[[nodiscard]] std::string render_environment(const Environment& environment, EnvironmentForm form);

}  // namespace pvrdma::ctl
