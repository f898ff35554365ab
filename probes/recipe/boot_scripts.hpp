// SPDX-License-Identifier: GPL-2.0-or-later
// The scripts that reload vmw_pvrdma at every boot, and whether they have ended in this boot.
//
// Two sources tell whether a script has ended. systemd knows whether the unit that runs the script
// (rc-local, cron, or an administrator's unit) is running or still has to run; a waiting job counts
// too, as the jobs of the whole boot are queued before its first unit runs. And a script still runs
// while a process of root has the script, or the recipe itself (`sh -c`), in its command line, also
// in the background after its unit. Processes of other users are ignored, so that they cannot delay
// the agent.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"
#include "probes/recipe/find.hpp"

namespace pvrdma::probes {

// If systemd cannot be asked, or /proc hides the processes of root, a script that is not seen to
// run counts as ended after this time since the boot.
inline constexpr Milliseconds kBootPatience{600'000};

// Yields true while the unit runs or still has to run.
using AskUnit = std::function<Result<bool>(const std::string& unit)>;

// The files of the recipe that are run at boot and touch the driver.
[[nodiscard]] std::vector<BootScript> boot_scripts(const Root& root, const Recipe& recipe,
                                                   const RecipeScope& scope,
                                                   const AskUnit& in_motion, BootTime now);

struct BootScriptsLook {
  std::vector<BootScript> scripts;
  // Why it is not known now which scripts there are and whether they have ended. `scripts` are the
  // last known ones then, as not ended.
  std::optional<Error> error;
};

// Finds these scripts and asks systemd at each look. Files are read again only when one has
// changed; that is checked every five minutes and when asked. A script that has ended is not
// checked again. Files that cannot be read are ignored.
//
// A boot script may run programs of a network file system whose server does not answer, and such a
// server may be reachable only through an adapter that needs the agent. So a thread of its own
// reads the files, and a look waits only for a moment for that thread.
class BootScriptWatch {
 public:
  // `in_motion` is called from that thread; empty: systemd is asked over the system bus.
  // `patience`: how long a look waits; a look at files that are at hand takes some milliseconds.
  explicit BootScriptWatch(const Root& root, AskUnit in_motion = {},
                           Milliseconds patience = Milliseconds{2000});
  ~BootScriptWatch();
  BootScriptWatch(const BootScriptWatch&) = delete;
  BootScriptWatch& operator=(const BootScriptWatch&) = delete;
  BootScriptWatch(BootScriptWatch&&) = delete;
  BootScriptWatch& operator=(BootScriptWatch&&) = delete;
  // `modules`: those that the agent loads.
  [[nodiscard]] BootScriptsLook look(const std::vector<std::string>& modules, bool asked,
                                     BootTime now);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  // with the thread, which may outlive the watch
};

}  // namespace pvrdma::probes
