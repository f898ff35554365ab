// SPDX-License-Identifier: GPL-2.0-or-later
// The files of a machine with commands that may reload the driver. The agent waits for the scripts
// that run at boot; tools list the lines, also those of further places
// (agent/tools/survey/recipe.hpp).
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/base/file.hpp"
#include "probes/recipe/lines.hpp"

namespace pvrdma::probes {

// Folders of packages, administrators and the running system: a file hides files of the same name
// in later folders.
inline constexpr std::array<std::string_view, 5> kConfigFolders{"/etc/", "/run/", "/usr/local/lib/",
                                                                "/usr/lib/", "/lib/"};
// "/usr/lib/udev/rules.d/a.rules" -> "udev/rules.d/a.rules"
[[nodiscard]] std::string_view without_folder(std::string_view path);
// The folder of that name in each of them: "udev/rules.d".
[[nodiscard]] std::vector<std::string> in_config_folders(const std::string& name);

struct RecipePlace {
  // A path in which each component may be a pattern of glob(7). A path that does not begin with "/"
  // is below each of kConfigFolders.
  const char* pattern;
  RecipeForm form;
  bool at_boot;      // its commands are run at boot
  const char* when;  // for the reader: "run at every boot"
  const char* unit;  // the unit that runs it at boot; empty: none is known, or the file is the unit
  const char* by_hand;  // why `migrate` does not edit it; empty: `migrate` may
};

// The places that the agent waits for at boot.
[[nodiscard]] std::span<const RecipePlace> boot_places();
// Whether the file is in a folder of cron's that ignores it for its name.
[[nodiscard]] bool is_ignored_by_cron(const Root& root, const std::string& path);

// What starts a unit: the links of `systemctl enable`, units and drop-ins of administrators that
// name it (Requires= and similar keys), timers and path units that are started themselves, and
// rules of udev.

enum class UnitStart {
  Never,       // nothing that is looked at here does
  AtSleep,     // the system's suspend or end
  AfterSleep,  // a suspend, once it is over
  ByEvent,     // a path unit, or a rule of udev
  ByTimer,     // a timer, at times of its own
  AfterBoot,   // a timer, once in a boot
  AtBoot,      // another unit wants it
};

// Of units and hooks that start at AtSleep. Before a suspend the driver has to be unloaded, which
// the agent does not do (pvrdma-agent(8), VMOTION, SUSPEND).
inline constexpr const char* kRunAtSleep = "run at suspend or shutdown";

class UnitStarts {
 public:
  // Lists a folder; empty: it is not there, or not to be read.
  using NamesIn = std::function<const std::vector<std::string>&(const std::string& folder)>;
  // `units`, `rules`: folders of units and of udev's rules, the first before the others.
  UnitStarts(const Root& root, std::vector<std::string> units, std::vector<std::string> rules,
             NamesIn names_in)
      : root_(root),
        units_(std::move(units)),
        rules_(std::move(rules)),
        names_in_(std::move(names_in)) {}

  // The greatest, where several things start the unit. A template, "up@.service", starts as its
  // instances do.
  [[nodiscard]] UnitStart of(const std::string& unit);
  // Whether a suspend or the system's end starts the unit, whatever else does.
  [[nodiscard]] bool at_sleep(const std::string& unit);
  // Whether a unit or drop-in of an administrator's binds a unit to this one (BindsTo=,
  // Requisite=): systemd does not start that unit where this one is not active.
  [[nodiscard]] bool is_bound(const std::string& unit);
  // The instances of a template that start; empty for another unit.
  [[nodiscard]] std::vector<std::string> instances_of(const std::string& unit);
  // Whether the unit, or an instance of it, has drop-ins other than `except`, which may give the
  // unit something else to do.
  [[nodiscard]] bool has_drop_ins(const std::string& unit, const std::string& except);
  // The files of timers and path units that were asked for, there or not, and of administrators'
  // units.
  [[nodiscard]] const std::vector<std::string>& looked_at() const { return looked_at_; }

 private:
  void find();
  void add(const std::string& unit, UnitStart start);
  void add_wanted_by(const std::string& file);
  void add_wanted_by_rules(const std::string& file);
  void add_started_by(const std::string& unit);
  [[nodiscard]] bool waits_for_resume(const std::string& unit);

  const Root& root_;
  std::vector<std::string> units_, rules_;
  NamesIn names_in_;
  std::optional<std::map<std::string, UnitStart>> starts_;
  std::set<std::string> at_sleep_;  // units that start at AtSleep, also where something else counts
  std::set<std::string> bound_;     // units that another one is bound to
  std::vector<std::string> looked_at_;
};

}  // namespace pvrdma::probes
