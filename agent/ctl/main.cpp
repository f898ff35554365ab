// pvrdma-agentctl: the command line of pvrdma-agent. Wiring only: options in, one command called.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "agent/config/config_files.hpp"
#include "agent/config/duration.hpp"
#include "agent/ctl/boots_journal.hpp"
#include "agent/ctl/commands.hpp"
#include "agent/ctl/failure.hpp"
#include "agent/ctl/system_options.hpp"
#include "agent/ctl/verb_options.hpp"
#include "agent/ctl/verbs.hpp"
#include "agent/tools/verify/mesh/command.hpp"
#include "agent/tools/verify/peer/earlier.hpp"
#include "build_config.hpp"

namespace {

using namespace pvrdma;
using namespace pvrdma::ctl;

constexpr const char* kWhereToRead =
    "\n`pvrdma-agentctl help VERB` prints a verb's options. Manual page: pvrdma-agentctl(1)";

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
  app.footer(std::string{kStateExitCodes} + kWhereToRead);
}

std::optional<std::string> adapter_of(const Words& words) {
  return words.adapter.empty() ? std::nullopt : std::optional{words.adapter};
}

// The names of the options that a command takes, its own and those of all.
std::vector<std::string> option_names(const CLI::App& app, const CLI::App* command) {
  std::vector<std::string> names;
  for (const CLI::App* one : {&app, command}) {
    if (one == nullptr) continue;
    for (const CLI::Option* option : one->get_options())
      if (!option->get_group().empty())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// CLI11 says "--timeout: " and then what our checks say; else its own words, of which only the
// option's name is used.
std::string own_words(const CLI::ParseError& error, const CLI::App* command) {
  const std::string what = error.what();
  const auto any = [&](auto wanted) {
    for (const CLI::Option* option : command->get_options())
      if (wanted(*option)) return option->get_name();
    return std::string{};
  };
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) {
    const std::size_t colon = what.find(": ");
    return colon == std::string::npos ? what : what.substr(0, colon) + what.substr(colon + 1);
  }
  const std::string option = what.substr(0, what.find_first_of(": "));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return option + " needs a value, and one only";
  if (command == nullptr) return "the arguments are not understood";
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    return any([](const CLI::Option& one) { return one.get_required() && one.count() == 0; }) +
           " is missing";
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr)
    return option + " does not go with " + what.substr(what.rfind(' ') + 1);
  if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr)
    return option + " goes only with " + what.substr(what.rfind(' ') + 1);
  return "the arguments are not understood";
}

std::string complaint(const CLI::App& app, const CLI::ParseError& error) {
  const auto commands = app.get_subcommands();
  const CLI::App* command = commands.empty() ? nullptr : commands.front();
  const std::string verb = command == nullptr ? "" : command->get_name();
  const auto left = app.remaining(true);
  for (const std::string& word : left)
    if (word.size() > 1 && word.front() == '-')
      return unknown_option(verb, word, option_names(app, command));
  if (command == nullptr && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    return left.empty() ? wrong_use("", "a verb is missing") : unknown_verb(left.front());
  if (!left.empty()) return wrong_use(verb, "unexpected argument " + left.front());
  return wrong_use(verb, own_words(error, command));
}

int print_help(const CLI::App& app, const Settings& settings, const Console& console,
               const std::string& verb) {
  if (!verb.empty() && find_verb(verb) == nullptr)
    return end_without(settings, console, unknown_verb(verb));
  // Its own help() would be that of the verb that was called, which is this one.
  const std::string text = verb.empty() ? app.get_formatter()->make_help(&app, app.get_name(),
                                                                         CLI::AppFormatMode::Normal)
                                        : app.get_subcommand(verb)->help(app.get_name());
  return console.print(text) ? 0 : kExitUnknown;
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
  const auto command = [&](const char* name, std::function<int()> call) {
    CLI::App* added = app.add_subcommand(name, find_verb(name)->what);
    added->fallthrough();
    set_default_footer(*added);
    added->callback([&code, call = std::move(call)] { code = call(); });
    return added;
  };

  bool for_monitor = false;
  add_health_options(*command("health",
                              [&] {
                                return for_monitor ? health_for_monitor(settings, console)
                                                   : health(settings, console);
                              }),
                     for_monitor);
  command("status", [&] { return status(settings, console); });
  command("plan", [&] { return plan(settings, console); });
  add_boots_options(*command("boots", [&] { return boots(settings, console, read_journal); }));
  CLI::App* waiting = command("wait", [&] {
    return wait(settings, console, {wait_timeout(words.timeout), words.goal == "settled"});
  });
  add_wait_options(*waiting, words);
  CLI::App* watching =
      command("watch", [&] { return watch(settings, console, parse_timeout(words.timeout)); });
  add_watch_options(*watching, words);
  MetricsOptions metrics_options;
  metrics_options.read_boot = read_this_boot;
  add_metrics_options(
      *command("metrics", [&] { return print_metrics(settings, console, metrics_options); }),
      metrics_options);
  ExportOptions export_options;
  add_export_options(
      *command("export", [&] { return print_export(settings, console, export_options); }),
      export_options);
  CLI::App* reloading =
      command("reload", [&] { return reload(settings, console, adapter_of(words)); });
  add_reload_options(*reloading, words);
  CLI::App* acknowledging =
      command("acknowledge", [&] { return acknowledge(settings, console, adapter_of(words)); });
  add_acknowledge_options(*acknowledging, words);
  MtuOptions mtu_options;
  CLI::App* sizing = command("mtu", [&] {
    mtu_options.timeout = parse_timeout(words.timeout).value_or(mtu_options.timeout);
    return mtu(settings, console, mtu_options);
  });
  add_mtu_options(*sizing, mtu_options, words.timeout);
  MmioOptions mmio_options;
  CLI::App* mapping = command("mmio", [&] { return mmio(settings, console, mmio_options); });
  add_mmio_options(*mapping, mmio_options);
  CLI::App* testing = command("selftest", [&] {
    SelftestOptions options;
    options.device = adapter_of(words);
    options.timeout = parse_timeout(words.timeout).value_or(options.timeout);
    options.program = PVRDMA_SELFTEST;
    return self_test(settings, console, options);
  });
  add_selftest_options(*testing, words);
  VerifyOptions verify_options;
  verify_options.program = PVRDMA_VERIFY;
  verify_options.state_file = verify::state_file();
  add_verify_options(*command("verify",
                              [&] {
                                return verify_options.peer == "mesh"
                                           ? verify_mesh(settings, console, verify_options)
                                           : verify_peer(settings, console, verify_options);
                              }),
                     verify_options);
  CLI::App* variables = command("env", [&] {
    return env(settings, console,
               {adapter_of(words),
                words.form == "shell" ? EnvironmentForm::Shell : EnvironmentForm::Systemd});
  });
  add_env_options(*variables, words);
  DoctorOptions doctor_options;
  // Of the package: a container may have this program alone.
  if (::access(PVRDMA_PORT_QUERY, X_OK) == 0) doctor_options.helpers.port_query = PVRDMA_PORT_QUERY;
  bool is_next_boot = false;
  NextBootOptions next_boot_options{"/", {}, PVRDMA_MODULE_LOOKUP, PVRDMA_INITRAMFS_CONTENT};
  CLI::App* examining = command("doctor", [&] {
    next_boot_options.units = doctor_options.units;
    return is_next_boot ? next_boot(settings, console, next_boot_options)
                        : doctor(settings, console, doctor_options);
  });
  add_doctor_options(*examining, doctor_options, is_next_boot, next_boot_options);
  MigrateOptions migrate_options;
  add_migrate_options(
      *command("migrate", [&] { return migrate(settings, console, migrate_options); }),
      migrate_options);
  SealOptions seal_options;
  add_seal_options(*command("seal", [&] { return seal(settings, console, seal_options); }),
                   seal_options);
  ReportOptions report_options;
  add_report_options(*command("report", [&] { return report(settings, console, report_options); }),
                     report_options);

  CLI::App* helping =
      command("help", [&] { return print_help(app, settings, console, words.verb); });
  add_help_options(*helping, words);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    // Of what is wrong no option has been taken over yet.
    settings.json = settings.json || app.get_option("--json")->count() > 0;
    return end_without(settings, console, complaint(app, error));
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
