// SPDX-License-Identifier: GPL-2.0-or-later
// The commands of pvrdma-agentctl, one function each. They return the exit code of a monitoring
// plugin: 0 ready or absent, 1 degraded or converging, 2 failed, 3 unknown (no agent, no answer in
// time, a bad answer, a wrong command line). Commands that show no state have exit codes of their
// own, which stand at their declarations.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/ctl/connection.hpp"
#include "agent/ctl/environment.hpp"
#include "agent/ctl/local.hpp"
#include "agent/ctl/text.hpp"
#include "agent/varlink/interfaces.hpp"

namespace pvrdma::ctl {

inline constexpr int kExitFailed = 2;
inline constexpr int kExitUnknown = 3;

// Settings of all commands.
struct Settings {
  std::string socket = varlink::kAgentSocket;
  bool json = false;
  Milliseconds answer_within = std::chrono::seconds{5};
  Milliseconds reload_within = std::chrono::minutes{2};  // an unload may take seconds
  // The look that `status`, `plan` and `env` make where no agent runs; empty: none.
  std::function<LocalLook()> look_without_agent;
};

struct WaitOptions {
  Milliseconds timeout = std::chrono::seconds{90};
  // True: wait for any verdict, also degraded and failed. False: for ready or absent.
  bool for_settled = false;
};

struct EnvOptions {
  std::optional<std::string> adapter;  // as for `reload`; none: all that are ready
  EnvironmentUse use = EnvironmentUse::Rdma;
  EnvironmentForm form = EnvironmentForm::Shell;
};

struct JournalBoots;  // agent/ctl/boots_journal.hpp

// Prints why a command has no result: a line on `err`, or with --json on `out` {"error":
// {"message": …}}, with "id" and "remedy" if there are any. Returns `code`.
int end_without(const Settings& settings, const Console& console, const NoAnswer& why,
                int code = kExitUnknown);
int end_without(const Settings& settings, const Console& console, const std::string& why,
                int code = kExitUnknown);
int end_without(const Settings& settings, const Console& console, const Error& why,
                int code = kExitUnknown);

// Prints an answer with `render`, with --json the answer itself, or why there is none. Returns the
// state's exit code.
int show_health(const Settings& settings, const Console& console, const HealthResult& answer,
                std::string (*render)(const Health& health, const Style& style));

int health(const Settings& settings, const Console& console);
// The same as one line, in the format of a monitoring plugin.
int health_for_monitor(const Settings& settings, const Console& console);
int status(const Settings& settings, const Console& console);
int plan(const Settings& settings, const Console& console);
// Returns 0: printed; 3: there is nothing to print.
int boots(const Settings& settings, const Console& console, const Answered<JournalBoots>& found);
int wait(const Settings& settings, const Console& console, const WaitOptions& options);
// `limit` none: until a signal ends the process.
int watch(const Settings& settings, const Console& console, std::optional<Milliseconds> limit);
// `adapter`: the name of an adapter (is_called(), agent/model/snapshot.hpp); none: any.
int reload(const Settings& settings, const Console& console,
           const std::optional<std::string>& adapter);
// `adapter`: function address, MAC or netdev of a removed adapter; none: all of them.
int acknowledge(const Settings& settings, const Console& console,
                const std::optional<std::string>& adapter);
// Returns 0: printed, also where a variable had to be left out, for which a message is printed.
int env(const Settings& settings, const Console& console, const EnvOptions& options);

}  // namespace pvrdma::ctl
