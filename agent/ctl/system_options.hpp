// The command line of what looks at the whole system: `doctor`, `migrate`, `seal` and
// `report`.
#pragma once

#include "agent/ctl/commands.hpp"

namespace CLI {
class App;
}

namespace pvrdma::ctl {

void add_doctor_options(CLI::App& command, DoctorOptions& options);
void add_migrate_options(CLI::App& command, MigrateOptions& options);
void add_seal_options(CLI::App& command, SealOptions& options);
void add_report_options(CLI::App& command, ReportOptions& options);

}  // namespace pvrdma::ctl
