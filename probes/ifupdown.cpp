#include "probes/ifupdown.hpp"

#include <algorithm>
#include <set>
#include <sstream>

namespace pvrdma::probes {

namespace {

constexpr std::size_t kFileLimit = 64;  // sources may name each other

// The files that a pattern stands for, or that are in a directory.
std::vector<std::string> files_of(const Root& root, const std::string& source) {
  const auto status = status_of(root / source);
  return paths_matching(root, status && S_ISDIR(status->st_mode) ? source + "/*" : source);
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
  const auto installed = is_there(root / "/sbin/ifup");
  if (!installed) return Field<LinkOwner>::unreadable(installed.error());
  if (!*installed) return {};
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
    for (const std::string& source : file.sources)
      for (std::string& found :
           files_of(root, source.front() == '/' ? source : "/etc/network/" + source))
        waiting.push_back(std::move(found));
  }
  return {};
}

}  // namespace pvrdma::probes
