// SPDX-License-Identifier: GPL-2.0-or-later
// The scripts that reload vmw_pvrdma at every boot, and whether they have ended in this one.
//
// "Ended" is known from two sides. systemd knows whether the unit that runs the script (rc-local,
// cron, or a unit of the administrator's) has still to run or is running; a job that waits counts,
// as the whole boot is queued as jobs before its first unit runs. And a process of root's whose
// command line names the script, or holds the recipe itself (`sh -c`), runs it, also in the
// background after its unit. What others run, by whatever name, keeps nothing waiting.
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

// After so long a time since the boot, a script is taken to have ended where systemd cannot be
// asked.
inline constexpr Milliseconds kBootPatience{600'000};

// True: the unit has still to run, or runs.
using AskUnit = std::function<Result<bool>(const std::string& unit)>;

// Of the recipe's files, those that are run at boot and touch the driver.
[[nodiscard]] std::vector<BootScript> boot_scripts(const Root& root, const Recipe& recipe,
                                                   const RecipeScope& scope,
                                                   const AskUnit& in_motion, BootTime now);

// Finds them and asks systemd, again and again: files are read anew only where one has changed,
// which is looked for once a minute and when asked; a script that has ended is not looked for
// again. What cannot be read is passed over.
class BootScriptWatch {
 public:
  explicit BootScriptWatch(Root root) : root_(std::move(root)) {}
  // `modules` are those the agent loads.
  [[nodiscard]] const std::vector<BootScript>& look(const std::vector<std::string>& modules,
                                                    bool asked, const AskUnit& in_motion,
                                                    BootTime now);

 private:
  struct Stamp {
    unsigned long inode = 0;
    long changed_s = 0, changed_ns = 0;  // st_ctim: a change of contents, mode or name
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
