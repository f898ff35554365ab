// SPDX-License-Identifier: GPL-2.0-or-later
// What `migrate` does to files, each by itself: comment the recipe out, retire a unit, put back.
//
// Backups stand below kStore, under the path of what they are of, with its mode and times. A unit
// that is for nothing but the recipe is not edited: a drop-in keeps systemd from starting it while
// the agent is installed, which leaves the unit's file, its enablement and whoever orders itself
// after it as they are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "probes/recipe/find.hpp"

namespace pvrdma::ctl::moving {

inline constexpr const char* kStore = "/var/lib/pvrdma-agent/migrated";

// One thing done, or not.
struct Change {
  std::string path;      // what was changed
  std::string what{};    // "6 lines commented out"
  std::string backup{};  // empty: none was needed
  Error error{};         // with `doing` empty: it worked
  bool by_hand = false;  // it failed as the shell does not take the result: a person's to do
  [[nodiscard]] bool failed() const { return !error.doing.empty(); }
};

// Why the recipe is to stay: no agent would do its work in that system. Empty: it can go.
[[nodiscard]] std::string why_not_to_apply(const Root& root);

// None where no line of the file can be commented out.
[[nodiscard]] std::optional<Change> apply(const Root& root, const probes::RecipeFile& file);

// All that apply() has done. A file that was changed since keeps the change: only the lines that
// are marked go back, and `what` says so.
[[nodiscard]] std::vector<Change> revert(const Root& root);

}  // namespace pvrdma::ctl::moving
