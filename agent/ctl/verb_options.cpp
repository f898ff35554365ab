#include "agent/ctl/verb_options.hpp"

#include <sys/socket.h>

#include <CLI/CLI.hpp>

#include "agent/base/text.hpp"
#include "agent/config/duration.hpp"
#include "agent/ctl/verbs.hpp"
#include "agent/tools/mtu/search.hpp"

namespace pvrdma::ctl {

namespace {

constexpr const char* kBootsFooter =
    "From the journal, for root and who is in the group systemd-journal or adm; without the agent\n"
    "as well. Exit codes: 0 printed, 3 not (nothing is known of any boot, wrong command line).";

constexpr const char* kReloadFooter =
    "Exit codes: 0 reloaded, 1 an adapter is in use or now degraded, 2 it did not work or is\n"
    "forbidden, 3 unknown (no agent, no answer in time, not permitted, no such adapter, wrong\n"
    "command line).";

constexpr const char* kEnvFooter =
    "Exit codes: 0 printed; where no adapter is ready 1 degraded or converging, 2 failed, else 3\n"
    "(no adapter, no agent, no answer in time, wrong command line).";

constexpr const char* kMtuFooter =
    "Sends ICMP echo requests that may not be fragmented: at most 20 to a host where the link has\n"
    "MTU 9000, more where packets get lost. Sizes are whole IP packets: 28 bytes more than the\n"
    "payload of ping -s, 48 more for IPv6.\n"
    "Exit codes: 0 the MTU to every host was found, 3 it was not (no answer, no such host, out of\n"
    "time, not permitted, wrong command line). With --expect: 0 packets of that size reach every\n"
    "host, 2 they do not reach one, 3 of one it is not known.";

constexpr const char* kMmioFooter =
    "Exit codes: 0 printed, 3 not (no GPU in this guest, or one that maps less than its "
    "framebuffer;\n"
    "wrong command line).";

constexpr const char* kSelftestFooter =
    "Sends messages from the device to itself, for a second or so; asks no agent and changes\n"
    "nothing. Exit codes: 0 every device passed, 2 one did not, 3 nothing was tested (no such\n"
    "device, no libibverbs, wrong command line).";

constexpr const char* kHelpFooter = "Exit codes: 0 printed, 3 there is no such verb.";

CLI::Validator one_of(const std::string& one, const std::string& other) {
  return CLI::Validator{[=](const std::string& word) {
                          return word == one || word == other ? std::string{}
                                                              : "must be " + one + " or " + other;
                        },
                        "{" + one + "," + other + "}"};
}

std::string check_packet_size(const std::string& word) {
  const auto bytes = number_from<unsigned>(word);
  const bool fits = bytes && *bytes >= pmtu::kFloorIpv4 && *bytes <= pmtu::kLargestPacket;
  return fits ? "" : "must be a number of bytes from 68 to 65535";
}

void add_adapter_argument(CLI::App& command, Words& words, const char* what) {
  command.add_option("ADAPTER", words.adapter, what)->type_name("");
}

}  // namespace

void set_footer(CLI::App& command, const char* exit_codes) {
  if (const VerbEntry* verb = find_verb(command.get_name()))
    command.footer(verb_footer(*verb, exit_codes));
}

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
                   "One line with figures, for Nagios, Icinga and their kind");
}

void add_boots_options(CLI::App& command) { set_footer(command, kBootsFooter); }

void add_wait_options(CLI::App& command, Words& words) {
  add_time(command, "--timeout", words.timeout,
           "How long at most (default: readiness.timeout of the configuration, 90s)");
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
  set_footer(command, kReloadFooter);
  add_adapter_argument(
      command, words,
      "Must exist: PCI address, RDMA device or interface (all adapters are reloaded)");
}

void add_acknowledge_options(CLI::App& command, Words& words) {
  add_adapter_argument(command, words,
                       "PCI address, MAC or interface it had (default: all that were removed)");
}

void add_mtu_options(CLI::App& command, MtuOptions& options) {
  set_footer(command, kMtuFooter);
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
           "How long at most, for all hosts together and their names (default: 30s)");
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
  set_footer(command, kMmioFooter);
  command
      .add_option("GPUS", options.gpus,
                  "COUNTxGB or GB of framebuffer, as 2x40 (default: the GPUs of this guest)")
      ->type_name("")
      ->check([](const std::string& word) {
        return gpu::parse_gpus(word) ? std::string{} : std::string{gpu::kGpusRule};
      });
}

void add_selftest_options(CLI::App& command, Words& words, SelftestOptions& options) {
  set_footer(command, kSelftestFooter);
  command
      .add_option("DEVICE", words.adapter,
                  "RDMA device, PCI address or interface (default: every PVRDMA adapter)")
      ->type_name("");
  add_time(command, "--timeout", options.timeout, "How long at most for a device (default: 10s)");
}

void add_env_options(CLI::App& command, Words& words) {
  set_footer(command, kEnvFooter);
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
  set_footer(command, kHelpFooter);
  command.add_option("VERB", words.verb, "Whose options (default: the list of verbs)")
      ->type_name("");
}

}  // namespace pvrdma::ctl
