// The command line of what looks at a system's files: `migrate` and `seal`.
#pragma once

#include "agent/ctl/commands.hpp"

namespace CLI {
class App;
}

namespace pvrdma::ctl {

void add_migrate_options(CLI::App& command, MigrateOptions& options);
void add_seal_options(CLI::App& command, SealOptions& options);

}  // namespace pvrdma::ctl
