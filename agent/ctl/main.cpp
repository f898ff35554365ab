// pvrdma-agentctl: the command line of pvrdma-agent. Wiring only: options in, one command called.
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "agent/base/machine.hpp"
#include "agent/config/config_files.hpp"
#include "agent/config/duration.hpp"
#include "agent/ctl/commands.hpp"
#include "agent/ctl/mmio/size.hpp"
#include "agent/ctl/system_options.hpp"
#include "build_config.hpp"

namespace {

using namespace pvrdma;
using namespace pvrdma::ctl;

constexpr const char* kFooter =
    "Exit codes: 0 ready or absent, 1 degraded or converging, 2 failed, 3 unknown (no agent, no\n"
    "answer in time, wrong command line).";

constexpr const char* kBootsFooter =
    "Without the agent, what it has left behind of them. Exit codes: 0 printed, 3 not (nothing is\n"
    "known of any boot, no answer in time, wrong command line).";

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
    "time, not permitted, wrong command line).";

constexpr const char* kMmioFooter =
    "Exit codes: 0 printed, 3 not (no GPU in this guest, or one that maps less than its "
    "framebuffer;\n"
    "wrong command line).";

constexpr const char* kSelftestFooter =
    "Sends messages from the device to itself, for a second or so; asks no agent and changes\n"
    "nothing. Exit codes: 0 every device passed, 2 one did not, 3 nothing was tested (no such\n"
    "device, no libibverbs, wrong command line).";

// CLI11 prints the message after the option's name.
CLI::Validator duration_check() {
  return {[](const std::string& text) {
            return parse_timeout(text) ? std::string{} : std::string{kTimeoutRule};
          },
          ""};
}

struct Words {
  std::string timeout;
  std::string goal = "ready";
  std::string adapter;
  std::string form = "shell";
};

// Without --timeout the configuration's readiness.timeout counts. A configuration that cannot be
// read is the agent's to report, so the built-in value serves then.
Milliseconds wait_timeout(const std::string& word) {
  if (const auto given = parse_timeout(word)) return *given;
  const auto loaded = load_config();
  return loaded ? loaded->config.readiness.timeout : Config{}.readiness.timeout;
}

// Global options work before and after the command: subcommands pass on what they do not know.
void add_global_options(CLI::App& app, Settings& settings) {
  app.set_version_flag("--version", std::string{"pvrdma-agentctl "} + PVRDMA_VERSION);
  app.add_flag("--json", settings.json, "Print JSON, for programs");
  app.add_option("--socket", settings.socket, "Where the agent listens")
      ->type_name("PATH")
      ->capture_default_str();
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(kFooter);
}

std::optional<std::string> adapter_of(const Words& words) {
  return words.adapter.empty() ? std::nullopt : std::optional{words.adapter};
}

void add_adapter_argument(CLI::App& command, Words& words, const char* what) {
  command.add_option("ADAPTER", words.adapter, what)->type_name("");
}

void add_wait_options(CLI::App& command, Words& words) {
  command
      .add_option("--timeout", words.timeout,
                  "How long at most (default: readiness.timeout of the configuration, 90s)")
      ->check(duration_check())
      ->type_name("TIME");
  command
      .add_option("--for", words.goal,
                  "ready: ready or absent; settled: any verdict, also degraded or failed")
      ->type_name("STATE")
      ->check(CLI::IsMember({"ready", "settled"}))
      ->capture_default_str();
}

void add_mtu_options(CLI::App& command, MtuOptions& options, std::string& timeout) {
  command.footer(kMtuFooter);
  command.add_option("HOST", options.hosts, "Names or addresses; all are measured at once")
      ->required()
      ->type_name("")
      ->check([](const std::string& host) { return host.empty() ? "must not be empty" : ""; });
  CLI::Option* ipv4 = command.add_flag_callback(
      "-4,--ipv4", [&options] { options.family = AF_INET; }, "Only over IPv4");
  command
      .add_flag_callback(
          "-6,--ipv6", [&options] { options.family = AF_INET6; }, "Only over IPv6")
      ->excludes(ipv4);
  command
      .add_option("--timeout", timeout,
                  "How long at most, for all hosts together and their names (default: 30s)")
      ->check(duration_check())
      ->type_name("TIME");
}

void add_mmio_options(CLI::App& command, MmioOptions& options) {
  command.footer(kMmioFooter);
  command
      .add_option("GPUS", options.gpus,
                  "COUNTxGB or GB of framebuffer, as 2x40 (default: the GPUs of this guest)")
      ->type_name("")
      ->check([](const std::string& word) {
        return gpu::parse_gpus(word) ? std::string{} : std::string{gpu::kGpusRule};
      });
}

void add_selftest_options(CLI::App& command, Words& words) {
  command.footer(kSelftestFooter);
  command
      .add_option("DEVICE", words.adapter,
                  "RDMA device, PCI address or interface (default: every PVRDMA adapter)")
      ->type_name("");
  command.add_option("--timeout", words.timeout, "How long at most for a device (default: 10s)")
      ->check(duration_check())
      ->type_name("TIME");
}

void add_env_options(CLI::App& command, Words& words) {
  command.footer(kEnvFooter);
  add_adapter_argument(command, words,
                       "PCI address, RDMA device or interface (default: all that are ready)");
  command
      .add_option("--format", words.form,
                  "shell: for eval; systemd: for EnvironmentFile= (see also --json)")
      ->type_name("FORM")
      ->check(CLI::IsMember({"shell", "systemd"}))
      ->capture_default_str();
}

// CLI11 says only that a command is missing where there is a word that is none.
std::string complaint(const CLI::App& app, const CLI::ParseError& error) {
  const auto words = app.remaining();
  const bool has_command = !app.get_subcommands().empty();
  if (has_command || dynamic_cast<const CLI::RequiredError*>(&error) == nullptr)
    return error.what();
  return words.empty() ? "a command is missing" : "there is no command " + words.front();
}

int run(int argc, char** argv) {
  Settings settings;
  settings.look_without_agent = [] { return look_locally(); };
  const Console console = Console::of_process();
  Words words;
  int code = kExitUnknown;
  CLI::App app{"State of the PVRDMA adapters of this machine, as pvrdma-agent sees it.",
               "pvrdma-agentctl"};
  add_global_options(app, settings);
  const auto command = [&](const char* name, const char* what, std::function<int()> call) {
    CLI::App* added = app.add_subcommand(name, what);
    added->fallthrough()->footer(kFooter);
    added->callback([&code, call = std::move(call)] { code = call(); });
    return added;
  };

  command("health", "One screen: the verdict, what is wrong and what to do, every adapter",
          [&] { return health(settings, console); });
  command("status", "One line for each adapter", [&] { return status(settings, console); });
  command("plan", "What the agent would do now and why; changes nothing",
          [&] { return plan(settings, console); });
  command("boots", "How long each step of this boot and of the last ten took, side by side", [&] {
    return boots(settings, console, {Root{}, this_machine()});
  })->footer(kBootsFooter);
  CLI::App* waiting = command("wait", "Wait until the adapters are ready (or there are none)", [&] {
    return wait(settings, console, {wait_timeout(words.timeout), words.goal == "settled"});
  });
  add_wait_options(*waiting, words);
  CLI::App* watching = command("watch", "Print a line for each change, until interrupted", [&] {
    return watch(settings, console, parse_timeout(words.timeout));
  });
  watching->add_option("--timeout", words.timeout, "Stop after this time (default: never)")
      ->check(duration_check())
      ->type_name("TIME");
  CLI::App* reloading = command("reload", "Unload vmw_pvrdma and load it again, unless in use",
                                [&] { return reload(settings, console, adapter_of(words)); });
  reloading->footer(kReloadFooter);
  add_adapter_argument(
      *reloading, words,
      "Must exist: PCI address, RDMA device or interface (all adapters are reloaded)");
  CLI::App* acknowledging =
      command("acknowledge", "An adapter that was removed from the running VM is not missed",
              [&] { return acknowledge(settings, console, adapter_of(words)); });
  add_adapter_argument(*acknowledging, words,
                       "PCI address, MAC or interface it had (default: all that were removed)");
  MtuOptions mtu_options;
  CLI::App* sizing = command("mtu", "The largest packet that reaches a host unfragmented", [&] {
    mtu_options.timeout = parse_timeout(words.timeout).value_or(mtu_options.timeout);
    return mtu(settings, console, mtu_options);
  });
  add_mtu_options(*sizing, mtu_options, words.timeout);
  MmioOptions mmio_options;
  CLI::App* mapping = command("mmio", "The VM's settings for the memory of passed-through GPUs",
                              [&] { return mmio(settings, console, mmio_options); });
  add_mmio_options(*mapping, mmio_options);
  CLI::App* testing = command("selftest", "Prove that messages pass through a device", [&] {
    SelftestOptions options;
    options.device = adapter_of(words);
    options.timeout = parse_timeout(words.timeout).value_or(options.timeout);
    options.program = PVRDMA_SELFTEST;
    return self_test(settings, console, options);
  });
  add_selftest_options(*testing, words);
  CLI::App* variables =
      command("env", "Print what applications need: devices and GID index, as variables", [&] {
        return env(settings, console,
                   {adapter_of(words),
                    words.form == "shell" ? EnvironmentForm::Shell : EnvironmentForm::Systemd});
      });
  add_env_options(*variables, words);
  DoctorOptions doctor_options;
  // Of the package: a container may have this program alone.
  if (::access(PVRDMA_PORT_QUERY, X_OK) == 0) doctor_options.port_query = PVRDMA_PORT_QUERY;
  add_doctor_options(*command("doctor", "Is RDMA usable here, and if not, who has to do what",
                              [&] { return doctor(settings, console, doctor_options); }),
                     doctor_options);
  MigrateOptions migrate_options;
  add_migrate_options(*command("migrate", "Find the reload of rc.local and its like, and retire it",
                               [&] { return migrate(settings, console, migrate_options); }),
                      migrate_options);
  SealOptions seal_options;
  add_seal_options(*command("seal", "What a template made of this VM would hand down to its clones",
                            [&] { return seal(settings, console, seal_options); }),
                   seal_options);
  ReportOptions report_options;
  add_report_options(
      *command("report", "All that is known here, in one JSON document for a support case",
               [&] { return report(settings, console, report_options); }),
      report_options);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    console.complain(printable(complaint(app, error)) + ". Try: pvrdma-agentctl --help");
    return kExitUnknown;
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& surprise) {
    Console::of_process().complain(printable(surprise.what()));
    return kExitUnknown;
  } catch (...) {
    return kExitUnknown;
  }
}
