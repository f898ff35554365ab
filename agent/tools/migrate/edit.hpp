// Commenting lines out, and putting them back. Pure: text in, text out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/recipe/lines.hpp"

namespace pvrdma::ctl::moving {

// One that goes as a whole: of the recipe, and not left to a person.
[[nodiscard]] bool is_to_be_moved(const probes::RecipeLine& line);

// The text with those lines commented out, kMigratedMark before each, which follows as it was.
[[nodiscard]] std::string comment_out(std::string_view text,
                                      const std::vector<probes::RecipeLine>& lines);

// The text with every marked line as it was.
[[nodiscard]] std::string put_back(std::string_view text);

}  // namespace pvrdma::ctl::moving
