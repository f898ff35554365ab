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
#include <string>
#include <utility>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"
#include "probes/recipe/find.hpp"

namespace pvrdma::probes {

// If systemd cannot be asked, a script counts as ended after this time since the boot.
inline constexpr Milliseconds kBootPatience{600'000};

// Yields true while the unit runs or still has to run.
using AskUnit = std::function<Result<bool>(const std::string& unit)>;

// The files of the recipe that are run at boot and touch the driver.
[[nodiscard]] std::vector<BootScript> boot_scripts(const Root& root, const Recipe& recipe,
                                                   const RecipeScope& scope,
                                                   const AskUnit& in_motion, BootTime now);

// Finds these scripts and asks systemd at each look. Files are read again only when one has
// changed; that is checked once a minute and when asked. A script that has ended is not checked
// again. Files that cannot be read are ignored.
class BootScriptWatch {
 public:
  explicit BootScriptWatch(Root root) : root_(std::move(root)) {}
  // `modules`: those that the agent loads.
  [[nodiscard]] const std::vector<BootScript>& look(const std::vector<std::string>& modules,
                                                    bool asked, const AskUnit& in_motion,
                                                    BootTime now);

 private:
  struct Stamp {
    unsigned long inode = 0;
    long changed_s = 0, changed_ns = 0;  // st_ctim: changes with content, mode or name
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  [[nodiscard]] std::vector<Stamp> stamps() const;

  Root root_;
  RecipeScope scope_;
  Recipe recipe_;
  std::vector<Stamp> stamps_;
  BootTime compared_;
  bool read_ = false;
  std::vector<BootScript> scripts_;
};

}  // namespace pvrdma::probes
