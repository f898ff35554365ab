#include "agent/ctl/system_options.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "agent/ctl/verb_options.hpp"

namespace pvrdma::ctl {

namespace {

constexpr const char* kMigrateFooter =
    "Exit codes: 0 nothing of it is there, or all was moved, 1 some is left to be done by hand,\n"
    "2 a file could not be changed, 3 not permitted, no enabled agent is there to take over, not\n"
    "all could be read, or a wrong command line.";

constexpr const char* kSealFooter =
    "Changes nothing. Exit codes: 0 nothing would be handed down, 1 something would, 3 not all\n"
    "could be looked at, or a wrong command line.";

constexpr const char* kReportFooter =
    "One JSON document, in 60 seconds at most; what is missing is null, and `errors` says why.\n"
    "`sos report` collects logs and files, and `sos clean` masks them. Exit codes: 0 written,\n"
    "whatever is missing, 3 not written, or a wrong command line.";

constexpr const char* kDoctorFooter =
    "Needs neither agent nor root; sees more with either. Exit codes: 0 RDMA is usable here,\n"
    "1 with warnings, 2 it is not, 3 that is not known, or a wrong command line.\n"
    "Of --next-boot: 0 all is well, 1 warnings, 2 the driver will not be there, 3 not all\n"
    "could be read.";

CLI::Validator is_directory() {
  return {[](const std::string& path) {
            std::error_code error;
            return std::filesystem::is_directory(path, error) ? "" : "must be a directory";
          },
          ""};
}

CLI::Option* add_root_option(CLI::App& command, std::string& root) {
  return command.add_option("--root", root, "Where the system to look at is mounted")
      ->type_name("DIRECTORY")
      ->check(is_directory())
      ->capture_default_str();
}

}  // namespace

void add_doctor_options(CLI::App& command, DoctorOptions& options, bool& is_next_boot,
                        NextBootOptions& next_boot_options) {
  set_footer(command, kDoctorFooter);
  command
      .add_option(
          "--unit", options.units,
          "Look at the limit of locked memory of this unit as well; more than once for more")
      ->type_name("UNIT")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  CLI::Option* host_admin =
      command.add_flag("--host-admin", options.host_admin,
                       "Print only what the vSphere administrator is to look at, to be forwarded");
  CLI::Option* next_boot =
      command.add_flag("--next-boot", is_next_boot,
                       "Print what the next boot will find instead, for every installed kernel");
  next_boot->excludes(host_admin);
  add_root_option(command, next_boot_options.root)->needs(next_boot);
}

void add_migrate_options(CLI::App& command, MigrateOptions& options) {
  set_footer(command, kMigrateFooter);
  CLI::Option* apply = command.add_flag(
      "--apply", options.apply, "Comment out simple lines of it, with a backup (root only)");
  command.add_flag("--revert", options.revert, "Put back what --apply changed (root only)")
      ->excludes(apply);
  add_root_option(command, options.root);
}

void add_seal_options(CLI::App& command, SealOptions& options) {
  set_footer(command, kSealFooter);
  command.add_flag("--check", options.check, "Only tell, which is all that seal does");
  add_root_option(command, options.root);
}

void add_report_options(CLI::App& command, ReportOptions& options) {
  set_footer(command, kReportFooter);
  command.add_flag("--redact", options.redact)->group("");  // refused with an explanation
  command
      .add_option("-o,--output", options.output,
                  "A new file to write it to (default: standard output)")
      ->type_name("FILE");
}

}  // namespace pvrdma::ctl
