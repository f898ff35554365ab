// Commenting lines out, and putting them back. Pure: text in, text out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/recipe/script.hpp"

namespace pvrdma::ctl::moving {

// What stands before a line that is commented out, which follows as it was. In a block a ":" goes
// before it, as a block without a command is none.
inline constexpr std::string_view kMark = "#pvrdma-agent# ";
inline constexpr std::string_view kMarkInBlock = ": #pvrdma-agent# ";

// The text with those lines commented out that can be (RecipeLines::left is empty).
[[nodiscard]] std::string comment_out(std::string_view text,
                                      const std::vector<probes::RecipeLines>& lines);

// The text with every marked line as it was.
[[nodiscard]] std::string put_back(std::string_view text);

}  // namespace pvrdma::ctl::moving
