#include "probes/recipe/below.hpp"

#include <cerrno>
#include <filesystem>
#include <vector>

namespace pvrdma::probes {

namespace {

// In reverse: the next component is the last.
void push_components(const std::filesystem::path& path, std::vector<std::string>& waiting) {
  const auto relative = path.relative_path();
  std::vector<std::string> parts;
  for (const auto& part : relative) parts.push_back(part.string());
  waiting.insert(waiting.end(), parts.rbegin(), parts.rend());
}

}  // namespace

Result<std::string> resolve_below(const Root& root, const std::string& absolute) {
  constexpr unsigned kMostLinks = 40;  // as the kernel's own limit, path_resolution(7)
  std::vector<std::string> waiting;
  push_components(absolute, waiting);
  std::filesystem::path done{"/"};
  unsigned links = 0;
  while (!waiting.empty()) {
    const std::string part = waiting.back();
    waiting.pop_back();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      done = done.parent_path();
      continue;
    }
    const auto next = done / part;
    std::error_code error;
    const auto target = std::filesystem::read_symlink(root / next.string(), error);
    if (error) {
      done = next;
      continue;
    }
    if (++links > kMostLinks) return fail(ELOOP, "resolving", absolute);
    if (target.is_absolute()) done = "/";
    push_components(target, waiting);
  }
  return done.string();
}

}  // namespace pvrdma::probes
