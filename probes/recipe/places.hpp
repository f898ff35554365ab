// SPDX-License-Identifier: GPL-2.0-or-later
// Where a machine keeps commands that may reload the driver: one table for the agent's watch, which
// waits for what runs at boot, and for the tools that name the lines.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "probes/recipe/lines.hpp"

namespace pvrdma::probes {

// Of packages, administrators and the running system, the first before the others: a file hides
// those of its name in later ones.
inline constexpr std::array<std::string_view, 5> kConfigFolders{"/etc/", "/run/", "/usr/local/lib/",
                                                                "/usr/lib/", "/lib/"};

struct Place {
  // A path, or several: each component is a pattern of glob(7). One that does not begin with "/" is
  // below each of kConfigFolders.
  const char* pattern;
  RecipeForm form;
  bool at_boot;         // what it holds is run at boot
  const char* when;     // for the reader: "run at every boot"
  const char* unit;     // that runs it at boot; empty: none is known, or it is the unit
  const char* by_hand;  // why nothing is edited there; empty: `migrate` may
};

// What the agent waits for at boot.
[[nodiscard]] std::span<const Place> boot_places();
// What only tools look at; `migrate` edits nothing in it.
[[nodiscard]] std::span<const Place> other_places();

}  // namespace pvrdma::probes
