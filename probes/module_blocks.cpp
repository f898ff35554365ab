// SPDX-License-Identifier: GPL-2.0-or-later
// Finds what blocks modules, in modprobe.d and on the kernel's command line.
#include <fnmatch.h>

#include <algorithm>

#include "agent/base/text.hpp"
#include "probes/modprobe_config.hpp"
#include "probes/modules.hpp"

namespace pvrdma::probes {

namespace {

using Lines = std::vector<ModprobeLine>;

constexpr std::size_t kLongestShown = 120;  // bytes of a line

bool is_listed(std::string_view names, const std::string& module) {
  while (!names.empty())
    if (with_underscores(cut(names, ',')) == module) return true;
  return false;
}

class BlockSearch {
 public:
  BlockSearch(const Lines& lines, std::string_view command_line)
      : lines_(lines), words_(command_line_words(command_line)) {}

  // Empty: nothing blocks the module.
  [[nodiscard]] std::vector<std::string> find(const WantedModule& module) const {
    std::vector<std::string> found;
    for (const ModprobeLine& line : lines_)
      if (line.keyword == "blacklist" && line.name == module.name) found.push_back(quoted(line));
    add_word("modprobe.blacklist=", module.name, "", found);
    add_replaced(module.name, "", found);
    for (const std::string& name : module.needs)
      add_replaced(name, "it needs " + name + ", kept away by ", found);
    return found;
  }

 private:
  // Adds blocks that apply to a load by name and also to a load as a dependency.
  void add_replaced(const std::string& module, const std::string& front,
                    std::vector<std::string>& found) const {
    // Names may be patterns, and only the first matching line counts
    // (kmod_module_get_install_commands()).
    const auto line = std::ranges::find_if(lines_, [&](const ModprobeLine& one) {
      return one.keyword == "install" && ::fnmatch(one.name.c_str(), module.c_str(), 0) == 0;
    });
    if (line != lines_.end() && loads_nothing(line->rest)) found.push_back(front + quoted(*line));
    add_word("module_blacklist=", module, front, found);
  }

  // Linux Documentation/admin-guide/kernel-parameters.txt
  void add_word(std::string_view key, const std::string& module, const std::string& front,
                std::vector<std::string>& found) const {
    const auto word = std::ranges::find_if(words_, [&](const std::string& one) {
      return one.starts_with(key) && is_listed(std::string_view{one}.substr(key.size()), module);
    });
    if (word != words_.end()) found.push_back(front + quoted_word(*word));
  }

  const Lines& lines_;
  const std::vector<std::string> words_;
};

}  // namespace

std::string quoted(const ModprobeLine& line) {
  const std::string text =
      line.keyword + " " + line.name + (line.rest.empty() ? "" : " ") + line.rest;
  return "\"" + printable(text, kLongestShown) + "\" in " + line.place;
}

std::string quoted_word(std::string_view word) {
  return "\"" + printable(word, kLongestShown) + "\" on the kernel's command line";
}

std::vector<std::string> command_line_words(std::string_view command_line) {
  std::string text{command_line};
  std::erase(text, '"');
  std::ranges::replace(text, '\n', ' ');
  std::vector<std::string> words;
  for (const std::string_view word : split_at_blanks(text)) words.emplace_back(word);
  return words;
}

Result<std::string> command_line_of(const Root& root) {
  auto text = read_file(root / "/proc/cmdline");
  if (!text && means_absent(text.error())) return std::string{};
  return text;
}

Field<std::vector<ModuleBlock>> find_module_blocks(const ModprobeConfig& config,
                                                   const Result<std::string>& command_line,
                                                   const std::vector<WantedModule>& modules) {
  using Blocks = std::vector<ModuleBlock>;
  if (!config) return Field<Blocks>::unreadable(config.error());
  if (!command_line) return Field<Blocks>::unreadable(command_line.error());
  const BlockSearch search{*config, *command_line};
  Blocks blocks;
  for (const WantedModule& module : modules)
    if (const auto found = search.find(module); !found.empty())
      blocks.push_back({module.name, joined(found, "; ")});
  return blocks;
}

}  // namespace pvrdma::probes
