// SPDX-License-Identifier: GPL-2.0-or-later
// The lines of the recipe found in a file, as words to compare.
#pragma once

#include <string>
#include <vector>

#include "probes/recipe/find.hpp"

namespace pvrdma::test {

using Lines = std::vector<std::string>;

inline probes::RecipeScope scope() {
  probes::RecipeScope scope;
  scope.netdevs = {"ens224f0"};
  return scope;
}

// The number of each line, with the reason where the line is left: "3", "7: it may be…", "8 link",
// "9 port".
inline Lines described(const std::vector<probes::RecipeLine>& lines) {
  using probes::LineKind;
  Lines list;
  for (const probes::RecipeLine& line : lines)
    list.push_back(std::to_string(line.number) + (line.kind == LineKind::Link ? " link" : "") +
                   (line.kind == LineKind::Port ? " port" : "") +
                   (line.by_hand.empty() ? "" : ": " + line.by_hand));
  return list;
}

}  // namespace pvrdma::test
