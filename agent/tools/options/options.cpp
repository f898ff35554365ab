// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/options/options.hpp"

#include <sys/socket.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>

#include "agent/base/text.hpp"
#include "agent/tools/mtu/search.hpp"

namespace pvrdma::ctl {

namespace {

std::string check_directory(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) ? "" : "must be a directory";
}

CLI::Option* add_root_option(CLI::App& command, std::string& root) {
  return command.add_option("--root", root, "Directory where the system to look at is mounted")
      ->type_name("DIRECTORY")
      ->check(check_directory)
      ->capture_default_str();
}

CLI::Option* add_output_option(CLI::App& command, std::string& output, const char* what) {
  return command.add_option("-o,--output", output, what)->type_name("FILE");
}

constexpr const char* kReplacedFile = "A file to replace in one step (default: standard output)";

// An option whose word `parse` turns into `value`.
template <typename T, typename Parse>
void add_parsed(CLI::App& command, const char* name, std::optional<T>& value, Parse parse,
                const char* rule, const char* what) {
  command
      .add_option_function<std::string>(
          name, [&value, parse](const std::string& word) { value = parse(word); }, what)
      ->check([parse, rule](const std::string& word) {
        return parse(word) ? std::string{} : std::string{"must be "} + rule;
      });
}

std::string check_packet_size(const std::string& word) {
  const auto bytes = number_from<unsigned>(word);
  const bool fits = bytes && *bytes >= pmtu::kLeastMtu && *bytes <= pmtu::kLargestPacket;
  return fits ? ""
              : "must be a number of bytes from " + std::to_string(pmtu::kLeastMtu) + " to " +
                    std::to_string(pmtu::kLargestPacket);
}

}  // namespace

void add_doctor_options(CLI::App& command, DoctorOptions& options, bool& is_next_boot,
                        NextBootOptions& next_boot_options) {
  CLI::Option* unit =
      command
          .add_option("--unit", options.units,
                      "Also check the limit of locked memory of this unit; can be repeated")
          ->type_name("UNIT")
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  CLI::Option* host_admin =
      command.add_flag("--host-admin", options.host_admin,
                       "Print the faults and the whole checklist for the vSphere administrator");
  CLI::Option* next_boot =
      command.add_flag("--next-boot", is_next_boot,
                       "Print a forecast of the next boot instead, for every installed kernel");
  next_boot->excludes(host_admin);
  command
      .add_option("--host-output", options.host_output,
                  "Explain the output of an ESXi host's commands for this VM; -: standard input")
      ->type_name("FILE")
      ->check(check_not_empty)
      ->excludes(unit)
      ->excludes(host_admin)
      ->excludes(next_boot);
  add_root_option(command, next_boot_options.root)->needs(next_boot);
}

void add_migrate_options(CLI::App& command, MigrateOptions& options) {
  CLI::Option* apply = command.add_flag("--apply", options.apply,
                                        "Comment out its simple lines, with a backup (root only)");
  command.add_flag("--revert", options.revert, "Undo the changes of --apply (root only)")
      ->excludes(apply);
  add_root_option(command, options.root);
}

void add_seal_options(CLI::App& command, SealOptions& options) {
  // Accepted, as earlier versions required it.
  command.add_flag("--check")->description("No effect: seal never changes anything");
  add_root_option(command, options.root);
}

void add_report_options(CLI::App& command, ReportOptions& options) {
  command.add_flag("--redact", options.redact)->group("");  // refused with an explanation
  command.add_flag("--recording", options.recording,
                   "Only the agent's last events, from which its decisions can be replayed");
  add_output_option(command, options.output, "A new file to write to (default: standard output)");
}

void add_metrics_options(CLI::App& command, MetricsOptions& options) {
  CLI::Option* output = add_output_option(command, options.output, kReplacedFile);
  command
      .add_flag("--watch", options.watch,
                "Replace the file on each change and every minute, until interrupted")
      ->needs(output);
  command
      .add_flag("--serve", options.serve,
                "Answer systemd-report on the socket of pvrdma-agent-report.socket")
      ->excludes(output);
}

void add_export_options(CLI::App& command, ExportOptions& options) {
  static const std::map<std::string, ExportFormat> kFormats{{"cdi", ExportFormat::Cdi},
                                                            {"nfd", ExportFormat::NodeFeatures},
                                                            {"guestinfo", ExportFormat::Guestinfo}};
  command
      .add_option_function<std::string>(
          "FORMAT", [&options](const std::string& word) { options.format = kFormats.at(word); },
          "The format to write")
      ->required()
      ->type_name("cdi|nfd|guestinfo")
      ->check(CLI::IsMember(kFormats));
  CLI::Option* output = add_output_option(command, options.output, kReplacedFile);
  command
      .add_flag("--publish", options.publish,
                "guestinfo: set the VM's variable guestinfo.pvrdma-agent.health")
      ->excludes(output);
  command.add_flag("--watch", options.watch, "Write again on each change, until interrupted");
}

static void add_mesh_options(CLI::App& command, MeshOptions& options) {
  command
      .add_option("--rendezvous", options.rendezvous,
                  "verify mesh: where all machines meet, an address of one of them")
      ->type_name("HOST:PORT");
  command.add_option("--size", options.size, "verify mesh: the number of machines")
      ->type_name("N")
      ->check(CLI::Range(2, 4096));
  command
      .add_option_function<std::string>(
          "--rounds", [&options](const std::string& word) { options.full = word == "full"; },
          "verify mesh: every pair, or only two rounds (default: full)")
      ->type_name("full|quick")
      ->check(CLI::IsMember({"full", "quick"}));
  command
      .add_option(
          "--output", options.folder,
          "verify mesh: a folder for JSON, CSV and a picture, on the machine where all meet")
      ->type_name("FOLDER");
  command.add_flag("--resume", options.resume,
                   "verify mesh: continue with the results in that folder");
}

void add_verify_options(CLI::App& command, VerifyOptions& options) {
  CLI::Option* peer =
      command
          .add_option("PEER", options.peer,
                      "Address or name of the other VM's interface; `mesh`: see below")
          ->type_name("");
  command.add_flag("--listen", options.listen, "Wait for one peer")->excludes(peer);
  command
      .add_option("--adapter", options.device,
                  "RDMA device, PCI address or interface (default: the first that can be used)")
      ->type_name("ADAPTER");
  command.add_option("--port", options.port, "TCP port of the listener")
      ->type_name("PORT")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  command
      .add_option("--token-file", options.token_file,
                  "A file with a secret of both VMs, for a network with other users")
      ->type_name("FILE")
      ->check(check_not_empty);
  add_time(command, "--wait", options.wait, "How long to wait for the other VM (default: 60s)");
  add_time(command, "--duration", options.duration,
           "How long to measure (default: 10s; 3s for a pair of a mesh)");
  add_parsed(command, "--expect", options.expected, verify::parse_expectation,
             verify::kExpectationRule, "The required values, such as latency=50us,bandwidth=80%");
  add_parsed(command, "--line-rate", options.line_rate_mb_s, verify::parse_rate, verify::kRateRule,
             "Line rate of the hosts' NICs, such as 100Gb/s (default: not known)");
  command
      .add_option("--host-properties", options.host_properties,
                  "Pasted properties of both adapters from the ESXi hosts; - is standard input")
      ->type_name("FILE")
      ->check(check_not_empty);
  command.add_flag("--allow-in-use", options.allow_in_use,
                   "Also while a process holds the adapter");
  command.add_flag("--beside", options.allow_in_use)->group("");  // the old name, hidden
  add_mesh_options(command, options.mesh);
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

}  // namespace pvrdma::ctl
