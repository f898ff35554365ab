// SPDX-License-Identifier: GPL-2.0-or-later
// A way in which a file of the recipe is run, and what that says about its lines.
#pragma once

#include <string>
#include <tuple>

#include "probes/recipe/lines.hpp"
#include "probes/recipe/places.hpp"

namespace pvrdma::probes {

struct Origin {
  std::string called;  // the file's name there; may be a link
  const RecipePlace* place = nullptr;
  bool only_tools = false;  // only tools read the place
  std::string unit{};       // that runs it; empty: none is known
  bool in_effect = false;
  std::string by{};  // the file that runs it; empty: the system runs it
  CalledScript as{};
  UnitStart start = UnitStart::AtBoot;  // of `unit`
  bool at_sleep = false;                // a suspend or the system's end runs it, whatever else does

  [[nodiscard]] bool runs_at_boot() const;
  [[nodiscard]] const char* when() const;
  // Why all lines of the file need a person; empty: each line decides.
  [[nodiscard]] std::string by_hand() const;
  // The greatest of a file's origins decides: a unit may run the script that rc.local names, but
  // does not run as it is not executable.
  [[nodiscard]] std::tuple<bool, bool, bool> weight() const {
    return {in_effect, runs_at_boot(), by_hand().empty()};
  }
};

// Applies what the origin says about the line, besides its words.
void judge(RecipeLine& line, RecipeForm form, const Origin& origin);

}  // namespace pvrdma::probes
