// SPDX-License-Identifier: GPL-2.0-or-later
// Finds what blocks modules, or gives functions to other drivers, in modprobe.d and on the kernel's
// command line.
#include <fnmatch.h>

#include <algorithm>
#include <optional>

#include "agent/base/text.hpp"
#include "probes/modprobe_config.hpp"
#include "probes/modules.hpp"
#include "probes/recipe/command.hpp"

namespace pvrdma::probes {

namespace {

using Lines = std::vector<ModprobeLine>;

constexpr std::size_t kLongestShown = 120;  // bytes of a line

std::string shown(const ModprobeLine& line) {
  const std::string text =
      line.keyword + " " + line.name + (line.rest.empty() ? "" : " ") + line.rest;
  return "\"" + printable(text, kLongestShown) + "\" in " + line.place;
}

std::string shown(std::string_view word) {
  return "\"" + printable(word, kLongestShown) + "\" on the kernel's command line";
}

// The words of a command line, without quotes ("vfio-pci.ids=15ad:07b0").
std::vector<std::string> words_of(std::string_view command_line) {
  std::string text{command_line};
  std::erase(text, '"');
  std::ranges::replace(text, '\n', ' ');
  std::vector<std::string> words;
  for (const std::string_view word : split_at_blanks(text)) words.emplace_back(word);
  return words;
}

bool is_listed(std::string_view names, const std::string& module) {
  while (!names.empty())
    if (module_name(cut(names, ',')) == module) return true;
  return false;
}

class BlockSearch {
 public:
  BlockSearch(const Lines& lines, std::string_view command_line)
      : lines_(lines), words_(words_of(command_line)) {}

  // Empty: nothing blocks the module.
  [[nodiscard]] std::vector<std::string> find(const WantedModule& module) const {
    std::vector<std::string> found;
    for (const ModprobeLine& line : lines_)
      if (line.keyword == "blacklist" && line.name == module.name) found.push_back(shown(line));
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
    if (line != lines_.end() && loads_nothing(line->rest)) found.push_back(front + shown(*line));
    add_word("module_blacklist=", module, front, found);
  }

  // Linux Documentation/admin-guide/kernel-parameters.txt
  void add_word(std::string_view key, const std::string& module, const std::string& front,
                std::vector<std::string>& found) const {
    const auto word = std::ranges::find_if(words_, [&](const std::string& one) {
      return one.starts_with(key) && is_listed(std::string_view{one}.substr(key.size()), module);
    });
    if (word != words_.end()) found.push_back(front + shown(*word));
  }

  const Lines& lines_;
  const std::vector<std::string> words_;
};

// The drivers that take functions by `ids=` (Linux drivers/vfio/pci/vfio_pci.c,
// drivers/pci/pci-stub.c).
std::string claimer_of(std::string_view module) {
  const std::string name = module_name(module);
  if (name == "vfio_pci") return "vfio-pci";
  return name == "pci_stub" ? "pci-stub" : "";
}

// The function of an adapter that "VENDOR:DEVICE[:SUBVENDOR[:…]]" names: "15ad:07b0" or
// "15ad:0820"; empty: neither. The rest after the device only restricts the match, so it is
// ignored.
std::string id_of_adapter(std::string_view id) {
  const auto number = [&]() -> std::optional<unsigned> {
    std::string_view part = cut(id, ':');
    if (part.starts_with("0x") || part.starts_with("0X")) part.remove_prefix(2);
    return number_from<unsigned>(part, 16);
  };
  const auto vendor = number();
  const auto device = number();
  if (vendor != 0x15adU) return {};
  if (device == 0x07b0U) return "15ad:07b0";
  return device == 0x0820U ? "15ad:0820" : "";
}

// `options`: "ids=15ad:07b0,10de:1eb8 disable_vga=1".
std::string claimed_by(std::string_view options) {
  std::vector<std::string> found;
  for (const std::string& word : words_of(options)) {
    std::string_view ids = word;
    if (!ids.starts_with("ids=")) continue;
    ids.remove_prefix(4);
    while (!ids.empty())
      if (std::string id = id_of_adapter(cut(ids, ',')); !id.empty() && !contains(found, id))
        found.push_back(std::move(id));
  }
  return joined(found);
}

template <typename T>
std::optional<Field<T>> unreadable_of(const ModprobeConfig& config,
                                      const Result<std::string>& command_line) {
  if (!config) return Field<T>::unreadable(config.error());
  if (!command_line) return Field<T>::unreadable(command_line.error());
  return std::nullopt;
}

}  // namespace

Result<std::string> command_line_of(const Root& root) {
  auto text = read_file(root / "/proc/cmdline");
  if (!text && means_absent(text.error())) return std::string{};
  return text;
}

Field<std::vector<ModuleBlock>> find_module_blocks(const ModprobeConfig& config,
                                                   const Result<std::string>& command_line,
                                                   const std::vector<WantedModule>& modules) {
  using Blocks = std::vector<ModuleBlock>;
  if (auto unread = unreadable_of<Blocks>(config, command_line)) return *unread;
  const BlockSearch search{*config, *command_line};
  Blocks blocks;
  for (const WantedModule& module : modules)
    if (const auto found = search.find(module); !found.empty())
      blocks.push_back({module.name, joined(found, "; ")});
  return blocks;
}

Field<std::vector<FunctionClaim>> find_function_claims(const ModprobeConfig& config,
                                                       const Result<std::string>& command_line) {
  using Claims = std::vector<FunctionClaim>;
  if (auto unread = unreadable_of<Claims>(config, command_line)) return *unread;
  Claims claims;
  const auto add = [&](const std::string& driver, std::string_view options, std::string how) {
    if (driver.empty()) return;
    if (std::string ids = claimed_by(options); !ids.empty())
      claims.push_back({driver, std::move(ids), std::move(how)});
  };
  for (const ModprobeLine& line : *config)
    if (line.keyword == "options") add(claimer_of(line.name), line.rest, shown(line));
  for (const std::string& word : words_of(*command_line)) {
    std::string_view rest = word;
    const std::string driver = claimer_of(cut(rest, '.'));
    add(driver, rest, shown(word));
  }
  return claims;
}

}  // namespace pvrdma::probes
