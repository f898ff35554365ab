// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/ctl/verb_options.hpp"

#include <sys/socket.h>

#include <CLI/CLI.hpp>

#include "agent/base/text.hpp"
#include "agent/config/duration.hpp"
#include "agent/ctl/verbs.hpp"
#include "agent/tools/mtu/search.hpp"

namespace pvrdma::ctl {

namespace {

CLI::Validator one_of(const std::string& one, const std::string& other) {
  return CLI::Validator{[=](const std::string& word) {
                          return word == one || word == other ? std::string{}
                                                              : "must be " + one + " or " + other;
                        },
                        "{" + one + "," + other + "}"};
}

std::string check_packet_size(const std::string& word) {
  const auto bytes = number_from<unsigned>(word);
  const bool fits = bytes && *bytes >= pmtu::kLeastMtu && *bytes <= pmtu::kLargestPacket;
  return fits ? "" : "must be a number of bytes from 68 to 65535";
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

void add_mtu_options(CLI::App& command, MtuOptions& options) {
  command.add_option("HOST", options.hosts, "Names or addresses; all are measured at once")
      ->required()
      ->type_name("")
      ->check(check_not_empty);
  CLI::Option* ipv4 = command.add_flag_callback(
      "-4,--ipv4", [&options] { options.family = AF_INET; }, "Only over IPv4");
  command
      .add_flag_callback(
          "-6,--ipv6", [&options] { options.family = AF_INET6; }, "Only over IPv6")
      ->excludes(ipv4);
  add_time(command, "--timeout", options.timeout,
           "Longest time for all hosts together, name lookup included (default: 30s)");
  command
      .add_option("--expect", options.expect,
                  "The exit code says whether packets of this size reach every host")
      ->type_name("BYTES")
      ->check(check_packet_size);
  command
      .add_option("--adapter", options.adapter,
                  "Measure from its interface: PCI address, RDMA device or interface (default: by "
                  "the route)")
      ->type_name("ADAPTER")
      ->check(check_not_empty);
}

void add_mmio_options(CLI::App& command, MmioOptions& options) {
  command
      .add_option("GPUS", options.gpus,
                  "COUNTxGB or GB of framebuffer, such as 2x40 (default: the GPUs of this guest)")
      ->type_name("")
      ->check([](const std::string& word) {
        return gpu::parse_gpus(word) ? std::string{} : std::string{gpu::kGpusRule};
      });
}

void add_selftest_options(CLI::App& command, Words& words, SelftestOptions& options) {
  command
      .add_option("DEVICE", words.adapter,
                  "RDMA device, PCI address or interface (default: every PVRDMA adapter)")
      ->type_name("");
  add_time(command, "--timeout", options.timeout, "Longest time for each device (default: 10s)");
}

void add_env_options(CLI::App& command, Words& words) {
  add_adapter_argument(command, words,
                       "PCI address, RDMA device or interface (default: all that are ready)");
  command
      .add_option("--format", words.form,
                  "shell: for eval; systemd: for EnvironmentFile= (see also --json)")
      ->type_name("FORM")
      ->check(one_of("shell", "systemd"))
      ->capture_default_str();
}

void add_help_options(CLI::App& command, Words& words) {
  command.add_option("VERB", words.verb, "The verb (default: prints the list of verbs)")
      ->type_name("");
}

}  // namespace pvrdma::ctl
