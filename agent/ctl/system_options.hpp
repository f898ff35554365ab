// The command line of what looks at the whole system: `doctor`, `migrate`, `seal`, `report`,
// `metrics` and `export`; and of `verify`.
#pragma once

#include "agent/tools/doctor/command.hpp"
#include "agent/tools/export/command.hpp"
#include "agent/tools/metrics/command.hpp"
#include "agent/tools/migrate/command.hpp"
#include "agent/tools/next_boot/command.hpp"
#include "agent/tools/report/command.hpp"
#include "agent/tools/seal/command.hpp"
#include "agent/tools/verify/commands.hpp"

namespace CLI {
class App;
}

namespace pvrdma::ctl {

// `options` or, where it is about the next boot, `next_boot`: units of the one are those of the
// other.
void add_doctor_options(CLI::App& command, DoctorOptions& options, bool& is_next_boot,
                        NextBootOptions& next_boot);
void add_migrate_options(CLI::App& command, MigrateOptions& options);
void add_seal_options(CLI::App& command, SealOptions& options);
void add_report_options(CLI::App& command, ReportOptions& options);
void add_metrics_options(CLI::App& command, MetricsOptions& options);
void add_export_options(CLI::App& command, ExportOptions& options);
void add_verify_options(CLI::App& command, VerifyOptions& options);

}  // namespace pvrdma::ctl
