// SPDX-License-Identifier: GPL-2.0-or-later
// The ready adapters as environment variables of NCCL, UCX, Open MPI, MVAPICH2, libfabric and
// perftest. Pure: values in, text out.
//
// Names and meanings are from the programs' own documentation, read in 2026: NCCL's user guide 2.31
// ("Environment Variables"), UCX 1.19 (FAQ and `ucx_info -cf`), docs.open-mpi.org v5.0 (11.2.4) and
// the FAQ "openfabrics" of Open MPI 4, MVAPICH2's user guide 2.3.7, fi_verbs(7), fi_tcp(7) and
// fabric(7) of libfabric 1.17 and 2.6, and perftest's README.
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

// The transport of the job.
enum class EnvironmentUse {
  Rdma,    // Open MPI 4 and 5 by UCX
  OpenIb,  // the same, but Open MPI 4 by its own BTL openib
  Tcp,     // by the same interfaces, for comparison
};

// For the adapter `name` (is_called(), agent/model/snapshot.hpp), or for all. Adapters that are
// not ready are left out. Error: ENODEV where no adapter has that name, without errno where no
// adapter is ready.
[[nodiscard]] Result<Environment> environment_of(const Health& health,
                                                 const std::optional<std::string>& name,
                                                 EnvironmentUse use = EnvironmentUse::Rdma);

enum class EnvironmentForm {
  Shell,    // export NAME='value', for eval
  Systemd,  // NAME=value, for EnvironmentFile= (systemd.exec(5))
  Mpirun,   // one line of options of Open MPI's mpirun: --mca NAME VALUE, -x NAME=VALUE
};
[[nodiscard]] std::string render_environment(const Environment& environment, EnvironmentForm form);

}  // namespace pvrdma::ctl
