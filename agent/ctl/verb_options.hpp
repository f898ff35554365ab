// SPDX-License-Identifier: GPL-2.0-or-later
// The options and arguments of the verbs.
#pragma once

#include <string>

#include "agent/ctl/commands.hpp"
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

namespace CLI {
class App;
}

namespace pvrdma::ctl {

// The words of the command line, before they become a verb's options.
struct Words {
  Milliseconds timeout{0};  // zero: not given
  std::string goal = "ready";
  std::string adapter;
  std::string form = "shell";
  std::string verb;
};

// An option that takes a time with its unit.
void add_time(CLI::App& command, const char* name, Milliseconds& time, const char* what);
// A check of CLI11: the error text for the word; empty: no error.
[[nodiscard]] std::string check_not_empty(const std::string& word);

void add_health_options(CLI::App& command, bool& for_monitor);
void add_wait_options(CLI::App& command, Words& words);
void add_watch_options(CLI::App& command, Words& words);
void add_reload_options(CLI::App& command, Words& words);
void add_acknowledge_options(CLI::App& command, Words& words);
void add_mtu_options(CLI::App& command, MtuOptions& options);
void add_mmio_options(CLI::App& command, MmioOptions& options);
void add_selftest_options(CLI::App& command, Words& words, SelftestOptions& options);
void add_env_options(CLI::App& command, Words& words);
void add_help_options(CLI::App& command, Words& words);

// The verbs about the whole system, and `verify` (system_options.cpp).

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
