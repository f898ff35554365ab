// The commands of pvrdma-agentctl, a function and a file each. They return the exit code: 0 ready
// or absent, 1 degraded or converging, 2 failed, 3 unknown (no agent, no answer in time, a bad
// answer, a wrong command line). That is a monitoring plugin's. `boots`, `mtu`, `mmio` and
// `report`, which say nothing of a state, know 0 and 3 only, `selftest` 2 as well.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/ctl/connection.hpp"
#include "agent/ctl/console.hpp"
#include "agent/ctl/environment.hpp"
#include "agent/ctl/local.hpp"
#include "agent/varlink/interfaces.hpp"

namespace pvrdma::ctl {

inline constexpr int kExitFailed = 2;
inline constexpr int kExitUnknown = 3;

// What all commands share.
struct Settings {
  std::string socket = varlink::kAgentSocket;
  bool json = false;
  Milliseconds answer_within = std::chrono::seconds{5};
  Milliseconds reload_within = std::chrono::minutes{2};  // an unload alone may take seconds
  // What `status`, `plan` and `env` do where no agent runs; empty: nothing.
  std::function<Result<LocalLook>()> look_without_agent;
};

struct WaitOptions {
  Milliseconds timeout = std::chrono::seconds{90};
  // Any verdict will do, also degraded and failed; otherwise ready or absent.
  bool for_settled = false;
};

struct EnvOptions {
  std::optional<std::string> adapter;  // as for `reload`; none: all that are ready
  EnvironmentForm form = EnvironmentForm::Shell;
};

struct BootsOptions {
  Root root;            // of the files that are read where no agent runs
  std::string machine;  // whose they must be (agent/base/machine.hpp)
};

struct MtuOptions {
  std::vector<std::string> hosts;                   // names or addresses
  int family = 0;                                   // AF_UNSPEC, AF_INET or AF_INET6
  Milliseconds timeout = std::chrono::seconds{30};  // for all hosts together
};

struct MmioOptions {
  std::vector<std::string> gpus;  // as gpu::parse_gpus takes them; none: those of this guest
  Root root;
};

struct SelftestOptions {
  std::optional<std::string> device;  // as selftest::find_targets takes it; none: every adapter
  Milliseconds timeout = std::chrono::seconds{10};  // for each device
  std::string program;                              // the helper's path
  Root root;
};

struct MigrateOptions {
  bool apply = false;
  bool revert = false;
  std::string root = "/";  // of the system to look at
};

struct SealOptions {
  bool check = false;      // accepted, as it once was required
  std::string root = "/";  // of the system to look at
};

struct DoctorOptions {
  std::vector<std::string> units;  // whose limit of locked memory is looked at: "slurmd"
  bool host_admin = false;         // only what is for the vSphere administrator
  std::string port_query;          // as of observe_locally(); used where no agent has asked
  Root root;
  bool next_boot = false;            // the forecast of the next boot in place of all else
  std::string next_boot_root = "/";  // of the system whose next boot it is
};

struct ReportOptions {
  bool redact = false;  // there was such an option; it is refused with a word on what to use
  std::string output;   // a new file; empty or "-": standard output
  Root root;
  std::string agentctl = "/proc/self/exe";  // the program whose answers are collected
  Milliseconds part_limit = std::chrono::seconds{20};
  Milliseconds limit = std::chrono::seconds{60};  // for all parts together
};

// Prints what a rendering makes of an answer, with --json the answer itself, or why there is none.
// The state's exit code.
int show_health(const Settings& settings, const Console& console,
                const Answered<Answer<Health>>& answer,
                std::string (*render)(const Health& health, const Style& style));

int health(const Settings& settings, const Console& console);
int status(const Settings& settings, const Console& console);
int plan(const Settings& settings, const Console& console);
// 0: printed; 3: there is nothing to print.
int boots(const Settings& settings, const Console& console, const BootsOptions& options);
int wait(const Settings& settings, const Console& console, const WaitOptions& options);
// `limit` none: until a signal ends the process.
int watch(const Settings& settings, const Console& console, std::optional<Milliseconds> limit);
// `adapter`: a function address, RDMA device or netdev, which must exist; none: any.
int reload(const Settings& settings, const Console& console,
           const std::optional<std::string>& adapter);
// `adapter`: function address, MAC or netdev of one that was removed; none: all of them.
int acknowledge(const Settings& settings, const Console& console,
                const std::optional<std::string>& adapter);
// 0: printed, also where a variable had to be left out (which is said).
int env(const Settings& settings, const Console& console, const EnvOptions& options);
// 0: the MTU to every host was found; 3: not to every one.
int mtu(const Settings& settings, const Console& console, const MtuOptions& options);
// 0: printed; 3: there is nothing to go by, or it is doubtful.
int mmio(const Settings& settings, const Console& console, const MmioOptions& options);

// 0: every device passed; 2: one did not; 3: nothing was tested.
int self_test(const Settings& settings, const Console& console, const SelftestOptions& options);

// 0: no boot script reloads the driver, or all of it was moved; 1: some is, also what a person
// has to do; 2: a file could not be changed; 3: not permitted, no enabled agent, or nothing can be
// said.
int migrate(const Settings& settings, const Console& console, const MigrateOptions& options);

// 0: a template would bake nothing of this VM; 1: it would; 3: not all could be looked at.
int seal(const Settings& settings, const Console& console, const SealOptions& options);

// 0: RDMA is usable here; 1: with warnings; 2: it is not; 3: that is not known. With `next_boot`
// the codes are those of agent/ctl/doctor/next_boot.hpp.
int doctor(const Settings& settings, const Console& console, const DoctorOptions& options);

// 0: the report was written, whatever it lacks; 3: it was not.
int report(const Settings& settings, const Console& console, const ReportOptions& options);

}  // namespace pvrdma::ctl
