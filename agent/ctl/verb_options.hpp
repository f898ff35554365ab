// The options, arguments and footers of the verbs. Those of `doctor`, `migrate`, `seal` and
// `report` are in system_options.hpp.
#pragma once

#include <string>

#include "agent/ctl/commands.hpp"
#include "agent/tools/mmio/command.hpp"
#include "agent/tools/mtu/command.hpp"
#include "agent/tools/verify/commands.hpp"

namespace CLI {
class App;
}

namespace pvrdma::ctl {

// What the command line says, before it is made a verb's options.
struct Words {
  std::string timeout;
  std::string goal = "ready";
  std::string adapter;
  std::string form = "shell";
  std::string verb;
};

// Of every verb that returns a state.
inline constexpr const char* kStateExitCodes =
    "Exit codes: 0 ready or absent, 1 degraded or converging, 2 failed, 3 unknown (no agent, no\n"
    "answer in time, wrong command line).";

// Below the options of the verb that `command` is; the default is of what returns a state.
void set_footer(CLI::App& command, const char* exit_codes);
void set_default_footer(CLI::App& command);

void add_health_options(CLI::App& command, bool& for_monitor);
void add_boots_options(CLI::App& command);
void add_wait_options(CLI::App& command, Words& words);
void add_watch_options(CLI::App& command, Words& words);
void add_reload_options(CLI::App& command, Words& words);
void add_acknowledge_options(CLI::App& command, Words& words);
void add_mtu_options(CLI::App& command, MtuOptions& options, std::string& timeout);
void add_mmio_options(CLI::App& command, MmioOptions& options);
void add_selftest_options(CLI::App& command, Words& words);
void add_env_options(CLI::App& command, Words& words);
void add_help_options(CLI::App& command, Words& words);

}  // namespace pvrdma::ctl
