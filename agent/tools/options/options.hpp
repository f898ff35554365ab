// SPDX-License-Identifier: GPL-2.0-or-later
// The options and arguments of the tools' verbs.
#pragma once

#include "agent/ctl/verb_options.hpp"
#include "agent/tools/doctor/command.hpp"
#include "agent/tools/export/command.hpp"
#include "agent/tools/metrics/command.hpp"
#include "agent/tools/migrate/command.hpp"
#include "agent/tools/mmio/command.hpp"
#include "agent/tools/mtu/command.hpp"
#include "agent/tools/next_boot/command.hpp"
#include "agent/tools/report/command.hpp"
#include "agent/tools/seal/command.hpp"
#include "agent/tools/verify/commands.hpp"

namespace pvrdma::ctl {

void add_mtu_options(CLI::App& command, MtuOptions& options);
void add_mmio_options(CLI::App& command, MmioOptions& options);
void add_selftest_options(CLI::App& command, Words& words, SelftestOptions& options);
// Sets `options` or, with --next-boot, `next_boot`; both use the units in `options`.
void add_doctor_options(CLI::App& command, DoctorOptions& options, bool& is_next_boot,
                        NextBootOptions& next_boot);
void add_migrate_options(CLI::App& command, MigrateOptions& options);
void add_seal_options(CLI::App& command, SealOptions& options);
void add_report_options(CLI::App& command, ReportOptions& options);
void add_metrics_options(CLI::App& command, MetricsOptions& options);
void add_export_options(CLI::App& command, ExportOptions& options);
void add_verify_options(CLI::App& command, VerifyOptions& options);

}  // namespace pvrdma::ctl
