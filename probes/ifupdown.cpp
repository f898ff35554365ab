#include "probes/ifupdown.hpp"

#include <glob.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <sstream>

namespace pvrdma::probes {

namespace {

constexpr std::size_t kFileLimit = 64;  // sources may name each other

// The files that a pattern stands for, or that are in a directory.
std::vector<std::string> files_of(const std::string& source) {
  std::error_code error;
  const std::string pattern = std::filesystem::is_directory(source, error) ? source + "/*" : source;
  std::vector<std::string> files;
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (std::size_t at = 0; at < found.gl_pathc; ++at) files.emplace_back(found.gl_pathv[at]);
  ::globfree(&found);
  return files;
}

std::string joined_lines(std::string_view text) {
  std::string joined;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 1 < text.size() && text[at + 1] == '\n')
      ++at;
    else
      joined += text[at];
  }
  return joined;
}

}  // namespace

InterfacesFile parse_interfaces(std::string_view text) {
  InterfacesFile file;
  std::istringstream lines{joined_lines(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string word;
    std::string argument;
    if (!(words >> word >> argument)) continue;
    if (word == "iface") file.interfaces.push_back(argument);
    if (word == "source" || word == "source-directory") file.sources.push_back(argument);
  }
  return file;
}

Field<LinkOwner> ifupdown_owner(const Root& root, const std::string& name) {
  if (!std::filesystem::exists(root / "/sbin/ifup")) return {};
  std::vector<std::string> waiting{"/etc/network/interfaces"};
  std::set<std::string> seen;
  while (!waiting.empty() && seen.size() < kFileLimit) {
    const std::string path = std::move(waiting.back());
    waiting.pop_back();
    if (!seen.insert(path).second) continue;
    const auto text = read_file(root / path);
    if (!text && means_absent(text.error())) continue;
    if (!text) return Field<LinkOwner>::unreadable(text.error());
    const InterfacesFile file = parse_interfaces(*text);
    if (std::find(file.interfaces.begin(), file.interfaces.end(), name) != file.interfaces.end())
      return LinkOwner{LinkManager::Ifupdown, true, path};
    const std::size_t prefix = (root / "/").string().size();
    for (const std::string& source : file.sources) {
      const std::string absolute = source.front() == '/' ? source : "/etc/network/" + source;
      for (const std::string& found : files_of((root / absolute).string()))
        waiting.push_back("/" + found.substr(prefix));
    }
  }
  return {};
}

}  // namespace pvrdma::probes
