// SPDX-License-Identifier: GPL-2.0-or-later
// The options and arguments of the core's verbs; those of the tools are in agent/tools/options.
#pragma once

#include <string>

#include "agent/ctl/commands.hpp"

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
  bool for_mpirun = false;
  bool for_tcp = false;
  bool for_openib = false;
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
void add_env_options(CLI::App& command, Words& words);
[[nodiscard]] EnvOptions env_options(const Words& words);
void add_help_options(CLI::App& command, Words& words);

}  // namespace pvrdma::ctl
