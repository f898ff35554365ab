#include "probes/module_blocks.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "agent/base/text.hpp"
#include "probes/modules.hpp"

namespace pvrdma::probes {

namespace {

bool is_among(const std::vector<std::string>& modules, std::string_view name) {
  return std::find(modules.begin(), modules.end(), module_name(name)) != modules.end();
}

// What `install` runs in place of the module: the usual ways to load nothing.
bool loads_nothing(std::string_view command) {
  const std::string_view first = command.substr(0, command.find_first_of(" \t"));
  return first.ends_with("/true") || first.ends_with("/false") || first == "true" ||
         first == "false" || first == ":";
}

// libkmod counts the running kernel's command line as modprobe.d, whatever folders it is given.
bool is_of_this_command_line(const std::string& name) {
  const auto line = read_file("/proc/cmdline");
  const auto blocks = blocks_of_command_line(line.value_or(std::string{}));
  return std::any_of(blocks.begin(), blocks.end(),
                     [&](const ModuleBlock& block) { return block.module == module_name(name); });
}

std::optional<ModuleBlock> block_of(const ModprobeLine& line) {
  if (line.keyword == "blacklist" && !is_of_this_command_line(line.name))
    return ModuleBlock{module_name(line.name), "\"blacklist " + line.name + "\" in modprobe.d"};
  if (line.keyword == "install" && loads_nothing(line.rest))
    return ModuleBlock{module_name(line.name),
                       "\"install " + line.name + " " + line.rest + "\" in modprobe.d"};
  return std::nullopt;
}

}  // namespace

std::vector<ModuleBlock> blocks_of_command_line(std::string_view command_line) {
  std::vector<ModuleBlock> blocks;
  while (!command_line.empty()) {
    std::string_view word = cut(command_line, ' ');
    while (!word.empty() && word.back() == '\n') word.remove_suffix(1);
    for (const std::string_view key : {"modprobe.blacklist=", "module_blacklist="}) {
      if (!word.starts_with(key)) continue;
      std::string_view names = word.substr(key.size());
      while (!names.empty())
        blocks.push_back({module_name(cut(names, ',')),
                          "\"" + std::string{word} + "\" on the kernel's command line"});
    }
  }
  return blocks;
}

Field<std::vector<ModuleBlock>> find_module_blocks(const ModprobeConfig& config, const Root& root,
                                                   const std::vector<std::string>& modules) {
  if (!config) return Field<std::vector<ModuleBlock>>::unreadable(config.error());
  std::vector<ModuleBlock> blocks;
  for (const ModprobeLine& line : *config)
    if (auto block = is_among(modules, line.name) ? block_of(line) : std::nullopt)
      blocks.push_back(std::move(*block));
  const auto command_line = read_file(root / "/proc/cmdline");
  if (!command_line && !means_absent(command_line.error()))
    return Field<std::vector<ModuleBlock>>::unreadable(command_line.error());
  for (ModuleBlock& block : blocks_of_command_line(command_line.value_or(std::string{})))
    if (is_among(modules, block.module)) blocks.push_back(std::move(block));
  return blocks;
}

}  // namespace pvrdma::probes
