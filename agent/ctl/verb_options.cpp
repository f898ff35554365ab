// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/ctl/verb_options.hpp"

#include <CLI/CLI.hpp>

#include "agent/config/duration.hpp"
#include "agent/ctl/verbs.hpp"

namespace pvrdma::ctl {

namespace {

CLI::Validator one_of(const std::string& one, const std::string& other) {
  return CLI::Validator{[=](const std::string& word) {
                          return word == one || word == other ? std::string{}
                                                              : "must be " + one + " or " + other;
                        },
                        "{" + one + "," + other + "}"};
}

void add_adapter_argument(CLI::App& command, Words& words, const char* what) {
  command.add_option("ADAPTER", words.adapter, what)->type_name("");
}

}  // namespace

void add_time(CLI::App& command, const char* name, Milliseconds& time, const char* what) {
  command
      .add_option_function<std::string>(
          name, [&time](const std::string& word) { time = parse_timeout(word).value_or(time); },
          what)
      ->check(check_time)
      ->type_name("TIME");
}

std::string check_not_empty(const std::string& word) {
  return word.empty() ? "must not be empty" : "";
}

void add_health_options(CLI::App& command, bool& for_monitor) {
  command.add_flag("--plugin", for_monitor,
                   "One line with numbers, for Nagios, Icinga and similar monitors");
}

void add_wait_options(CLI::App& command, Words& words) {
  add_time(command, "--timeout", words.timeout,
           "Longest wait (default: readiness.timeout of the configuration, 90s)");
  command
      .add_option("--for", words.goal,
                  "ready: ready or absent; settled: any verdict, also degraded or failed")
      ->type_name("STATE")
      ->check(one_of("ready", "settled"))
      ->capture_default_str();
}

void add_watch_options(CLI::App& command, Words& words) {
  add_time(command, "--timeout", words.timeout, "Stop after this time (default: never)");
}

void add_reload_options(CLI::App& command, Words& words) {
  add_adapter_argument(
      command, words,
      "An existing adapter: PCI address, RDMA device or interface (all adapters are reloaded)");
}

void add_acknowledge_options(CLI::App& command, Words& words) {
  add_adapter_argument(
      command, words,
      "PCI address, MAC or interface of the removed adapter (default: all that were removed)");
}

void add_env_options(CLI::App& command, Words& words) {
  add_adapter_argument(command, words,
                       "PCI address, RDMA device or interface (default: all that are ready)");
  CLI::Option* form =
      command
          .add_option("--format", words.form,
                      "shell: for eval; systemd: for EnvironmentFile= (see also --json)")
          ->type_name("FORM")
          ->check(one_of("shell", "systemd"))
          ->capture_default_str();
  command
      .add_flag("--mpirun", words.for_mpirun,
                "In one line, as options of Open MPI's mpirun: --mca NAME VALUE, -x NAME=VALUE")
      ->excludes(form);
  CLI::Option* openib = command.add_flag(
      "--openib", words.for_openib, "For an Open MPI 4 that was built with openib instead of UCX");
  command.add_flag("--tcp", words.for_tcp, "The same run over TCP, for comparison")
      ->excludes(openib);
}

EnvOptions env_options(const Words& words) {
  EnvOptions options;
  if (!words.adapter.empty()) options.adapter = words.adapter;
  if (words.for_openib) options.use = EnvironmentUse::OpenIb;
  if (words.for_tcp) options.use = EnvironmentUse::Tcp;
  if (words.form == "systemd") options.form = EnvironmentForm::Systemd;
  if (words.for_mpirun) options.form = EnvironmentForm::Mpirun;
  return options;
}

void add_help_options(CLI::App& command, Words& words) {
  command.add_option("VERB", words.verb, "The verb (default: prints the list of verbs)")
      ->type_name("");
}

}  // namespace pvrdma::ctl
