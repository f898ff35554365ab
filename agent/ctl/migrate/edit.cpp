#include "agent/ctl/migrate/edit.hpp"

#include <algorithm>
#include <functional>

namespace pvrdma::ctl::moving {

namespace {

using probes::RecipeLines;

// Each line, its newline with it where it has one, given to `change` with its number from 1.
std::string each_line(std::string_view text,
                      const std::function<std::string(std::string_view, unsigned)>& change) {
  std::string result;
  for (unsigned number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const auto length = end == std::string_view::npos ? text.size() : end + 1;
    result += change(text.substr(0, length), number);
    text.remove_prefix(length);
  }
  return result;
}

}  // namespace

std::string comment_out(std::string_view text, const std::vector<RecipeLines>& lines) {
  return each_line(text, [&](std::string_view line, unsigned number) {
    const auto found = std::find_if(lines.begin(), lines.end(), [&](const RecipeLines& one) {
      return one.left.empty() && one.first <= number && number <= one.last;
    });
    if (found == lines.end()) return std::string{line};
    const bool needs_command = found->in_block && number == found->first;
    return std::string{needs_command ? kMarkInBlock : kMark} += line;
  });
}

std::string put_back(std::string_view text) {
  return each_line(text, [](std::string_view line, unsigned) {
    for (const std::string_view mark : {kMark, kMarkInBlock})
      if (line.starts_with(mark)) return std::string{line.substr(mark.size())};
    return std::string{line};
  });
}

}  // namespace pvrdma::ctl::moving
