// SPDX-License-Identifier: GPL-2.0-or-later
// pvrdma-agentctl: the command line of pvrdma-agent. Wiring only: options in, one command called.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "agent/config/config_files.hpp"
#include "agent/ctl/boots_journal.hpp"
#include "agent/ctl/commands.hpp"
#include "agent/ctl/verb_options.hpp"
#include "agent/ctl/verbs.hpp"
#include "agent/tools/options/options.hpp"
#include "agent/tools/verify/peer/earlier.hpp"
#include "build_config.hpp"

namespace {

using namespace pvrdma;
using namespace pvrdma::ctl;

constexpr const char* kWhereToRead =
    "\n`pvrdma-agentctl help VERB` prints a verb's options. Manual page: pvrdma-agentctl(1)";

// Without --timeout the configuration's readiness.timeout counts. The agent reports a configuration
// that cannot be read, so here the built-in value is used then.
Milliseconds wait_timeout(Milliseconds given) {
  if (given > Milliseconds{0}) return given;
  const auto loaded = load_config();
  return loaded ? loaded->config.readiness.timeout : Config{}.readiness.timeout;
}

// Global options work before and after the command: subcommands pass unknown options on.
void add_global_options(CLI::App& app, Settings& settings) {
  app.set_version_flag("--version", std::string{"pvrdma-agentctl "} + PVRDMA_VERSION);
  app.add_flag("--json", settings.json, "Print JSON, for programs");
  app.add_option("--socket", settings.socket, "The agent's socket")
      ->type_name("PATH")
      ->capture_default_str();
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(std::string{kStateExitCodes} + kWhereToRead);
}

std::optional<Milliseconds> watch_limit(Milliseconds given) {
  return given > Milliseconds{0} ? std::optional{given} : std::nullopt;
}

std::optional<std::string> adapter_of(const Words& words) {
  return words.adapter.empty() ? std::nullopt : std::optional{words.adapter};
}

// The names of the options that a command takes, its own and the global ones.
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

// For a failed check CLI11's text is "--timeout: " and the text of the check. From its other texts
// only the name of the option is used.
std::string own_words(const CLI::ParseError& error, const CLI::App* command) {
  const std::string what = error.what();
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) {
    const std::size_t colon = what.find(": ");
    return colon == std::string::npos ? what : what.substr(0, colon) + what.substr(colon + 1);
  }
  const std::string option = what.substr(0, what.find_first_of(": "));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return option + " needs exactly one value";
  if (command == nullptr) return "the arguments are not understood";
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    for (const CLI::Option* one : command->get_options())
      if (one->get_required() && one->count() == 0) return one->get_name() + " is missing";
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr)
    return option + " cannot be used with " + what.substr(what.rfind(' ') + 1);
  if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr)
    return option + " can only be used with " + what.substr(what.rfind(' ') + 1);
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
  // app.help() would print the help of the called verb, which is `help`.
  const std::string text = verb.empty() ? app.get_formatter()->make_help(&app, app.get_name(),
                                                                         CLI::AppFormatMode::Normal)
                                        : app.get_subcommand(verb)->help(app.get_name());
  return console.print(text) ? 0 : kExitUnknown;
}

// The options of all commands, and the one command that is called.
class CommandLine {
 public:
  CommandLine() {
    add_global_options(app_, settings_);
    settings_.look_without_agent = [] { return look_locally(); };
    add_core_verbs();
    add_doctor();
    add_measurements();
    add_other_tools();
    add_help_options(
        add("help", [this] { return print_help(app_, settings_, console_, words_.verb); }), words_);
  }
  int run(int argc, char** argv);

 private:
  CLI::App& add(const char* name, std::function<int()> call);
  void add_core_verbs();
  void add_doctor();
  void add_measurements();
  void add_other_tools();

  Settings settings_;
  Console console_ = Console::of_process();
  CLI::App app_{"State of the PVRDMA adapters of this machine, as pvrdma-agent sees it.",
                "pvrdma-agentctl"};
  int code_ = kExitUnknown;  // exit code of the command
  Words words_;
  bool for_monitor_ = false;
  bool is_next_boot_ = false;
  DoctorOptions doctor_;
  NextBootOptions next_boot_{"/", {}, PVRDMA_MODULE_LOOKUP, PVRDMA_INITRAMFS_CONTENT};
  MtuOptions mtu_;
  SelftestOptions selftest_;
  VerifyOptions verify_;
  MmioOptions mmio_;
  MetricsOptions metrics_;
  ExportOptions export_;
  MigrateOptions migrate_;
  SealOptions seal_{"/", PVRDMA_MODULE_LOOKUP};
  ReportOptions report_;
};

CLI::App& CommandLine::add(const char* name, std::function<int()> call) {
  const VerbEntry& verb = *find_verb(name);
  CLI::App& added = *app_.add_subcommand(name, verb.what);
  added.fallthrough();
  added.footer(verb_footer(verb));
  added.callback([this, call = std::move(call)] { code_ = call(); });
  return added;
}

void CommandLine::add_core_verbs() {
  add_health_options(add("health",
                         [this] {
                           return for_monitor_ ? health_for_monitor(settings_, console_)
                                               : health(settings_, console_);
                         }),
                     for_monitor_);
  add("status", [this] { return status(settings_, console_); });
  add("plan", [this] { return plan(settings_, console_); });
  add("boots", [this] { return boots(settings_, console_, read_journal()); });
  add_wait_options(add("wait",
                       [this] {
                         return wait(settings_, console_,
                                     {wait_timeout(words_.timeout), words_.goal == "settled"});
                       }),
                   words_);
  add_watch_options(
      add("watch", [this] { return watch(settings_, console_, watch_limit(words_.timeout)); }),
      words_);
  add_reload_options(
      add("reload", [this] { return reload(settings_, console_, adapter_of(words_)); }), words_);
  add_acknowledge_options(
      add("acknowledge", [this] { return acknowledge(settings_, console_, adapter_of(words_)); }),
      words_);
  add_env_options(add("env", [this] { return env(settings_, console_, env_options(words_)); }),
                  words_);
}

void CommandLine::add_doctor() {
  // A container may have this program without the package's helper programs.
  if (::access(PVRDMA_PORT_QUERY, X_OK) == 0) doctor_.helpers.port_query = PVRDMA_PORT_QUERY;
  CLI::App& examining = add("doctor", [this] {
    next_boot_.units = doctor_.units;
    return is_next_boot_ ? next_boot(settings_, console_, next_boot_)
                         : doctor(settings_, console_, doctor_);
  });
  add_doctor_options(examining, doctor_, is_next_boot_, next_boot_);
}

void CommandLine::add_measurements() {
  add_mtu_options(add("mtu", [this] { return mtu(settings_, console_, mtu_); }), mtu_);
  selftest_.program = PVRDMA_SELFTEST;
  CLI::App& testing = add("selftest", [this] {
    selftest_.device = adapter_of(words_);
    return self_test(settings_, console_, selftest_);
  });
  add_selftest_options(testing, words_, selftest_);
  verify_.program = PVRDMA_VERIFY;
  verify_.state_file = verify::state_file();
  add_verify_options(add("verify",
                         [this] {
                           return verify_.peer == "mesh"
                                      ? verify_mesh(settings_, console_, verify_)
                                      : verify_peer(settings_, console_, verify_);
                         }),
                     verify_);
}

void CommandLine::add_other_tools() {
  metrics_.read_boot = read_this_boot;
  add_metrics_options(
      add("metrics", [this] { return print_metrics(settings_, console_, metrics_); }), metrics_);
  add_export_options(add("export", [this] { return print_export(settings_, console_, export_); }),
                     export_);
  add_mmio_options(add("mmio", [this] { return mmio(settings_, console_, mmio_); }), mmio_);
  add_migrate_options(add("migrate", [this] { return migrate(settings_, console_, migrate_); }),
                      migrate_);
  add_seal_options(add("seal", [this] { return seal(settings_, console_, seal_); }), seal_);
  add_report_options(add("report", [this] { return report(settings_, console_, report_); }),
                     report_);
}

int CommandLine::run(int argc, char** argv) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app_.exit(error);  // --help, --version
    // After a parse error CLI11 has not set the options yet.
    settings_.json = settings_.json || app_.get_option("--json")->count() > 0;
    return end_without(settings_, console_, complaint(app_, error));
  }
  return code_;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return CommandLine{}.run(argc, argv);
  } catch (const std::exception& surprise) {
    Console::of_process().complain(printable(surprise.what()));
    return kExitUnknown;
  } catch (...) {
    return kExitUnknown;
  }
}
