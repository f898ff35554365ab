// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/settings.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "agent/base/text.hpp"

namespace pvrdma::probes {

namespace {

// Bytes. Each setting has a copy of its section, and no section that is searched for is longer.
constexpr std::size_t kLongestSection = 256;

}  // namespace

std::vector<Setting> parse_settings(std::string_view text) {
  std::vector<Setting> settings;
  std::string section;
  std::string whole;  // lines joined by a backslash
  unsigned begin = 0;
  for (unsigned number = 1; !text.empty(); ++number) {
    std::string_view line = trimmed(cut(text, '\n'));
    if (line.starts_with('#') || line.starts_with(';')) continue;
    if (whole.empty()) begin = number;
    const bool goes_on = line.ends_with('\\');
    if (goes_on) line.remove_suffix(1);
    whole += line;
    if (goes_on) {
      whole += ' ';
      if (!text.empty()) continue;
    }
    const std::string joint = std::exchange(whole, {});
    const std::string_view done = trimmed(joint);
    const auto equals = done.find('=');
    if (done.starts_with('[') && done.ends_with(']'))
      section = done.substr(1, std::min(done.size() - 2, kLongestSection));
    else if (equals != std::string_view::npos)
      settings.push_back({section, std::string{trimmed(done.substr(0, equals))},
                          std::string{trimmed(done.substr(equals + 1))}, begin});
  }
  return settings;
}

bool is_hidden(const Root& root, const std::string& path) {
  const auto status = status_of(root / path, FinalLink::Shown);
  if (!status) return false;
  if (!S_ISLNK(status->st_mode)) return S_ISREG(status->st_mode) && status->st_size == 0;
  const auto target = resolve_rooted(root / path);
  return target && target->inside() == "/dev/null";
}

Result<std::vector<std::string>> merged_files(const Root& root,
                                              const std::vector<std::string>& folders,
                                              std::string_view suffix) {
  std::map<std::string, std::string> by_name;
  for (const std::string& folder : folders) {
    const auto names = list_directory(root / folder);
    if (!names && !means_absent(names.error())) return fail(names.error());
    for (const std::string& name : names.value_or(std::vector<std::string>{}))
      if (name.ends_with(suffix) && !name.starts_with('.')) by_name.emplace(name, folder);
  }
  std::vector<std::string> files;
  for (const auto& [name, folder] : by_name)
    if (std::string path = folder + "/" + name; !is_hidden(root, path))
      files.push_back(std::move(path));
  return files;
}

}  // namespace pvrdma::probes
