// SPDX-License-Identifier: GPL-2.0-or-later
// The files of a machine with commands that may reload the driver: one table for the agent, which
// waits for the scripts that run at boot, and for the tools that list the lines.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "probes/recipe/lines.hpp"

namespace pvrdma::probes {

// Folders of packages, administrators and the running system: a file hides files of the same name
// in later folders.
inline constexpr std::array<std::string_view, 5> kConfigFolders{"/etc/", "/run/", "/usr/local/lib/",
                                                                "/usr/lib/", "/lib/"};

struct Place {
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
[[nodiscard]] std::span<const Place> boot_places();
// The places that only tools read; `migrate` does not edit them.
[[nodiscard]] std::span<const Place> other_places();

}  // namespace pvrdma::probes
