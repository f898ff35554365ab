#include "agent/tools/next_boot/driver_order.hpp"

#include <map>

#include "agent/base/text.hpp"
#include "agent/model/snapshot.hpp"
#include "probes/modules.hpp"

namespace pvrdma::probes {

namespace {

// "pre: a bpost: c" -> a, b; libkmod puts no blank before "post:".
std::vector<std::string> required_before(std::string_view text) {
  std::vector<std::string> names;
  text = text.substr(0, text.find("post:"));
  if (!text.starts_with("pre:")) return names;
  text.remove_prefix(4);
  while (!text.empty())
    if (const std::string_view word = cut(text, ' '); !word.empty())
      names.push_back(module_name(word));
  return names;
}

}  // namespace

std::vector<std::string> loaded_by(std::string_view command) {
  std::vector<std::string> names;
  const std::string_view program = cut(command, ' ');
  if (program.substr(program.rfind('/') + 1) != "modprobe") return names;
  while (!command.empty()) {
    const std::string_view word = cut(command, ' ');
    if (word == ";" || word == "||" || word == "&&") break;
    if (!word.empty() && !word.starts_with('-')) names.push_back(module_name(word));
  }
  return names;
}

Field<std::vector<std::string>> driver_predecessors(const ModprobeConfig& config) {
  if (!config) return Field<std::vector<std::string>>::unreadable(config.error());
  std::map<std::string, std::string> commands;
  for (const ModprobeLine& line : *config)
    if (line.keyword == "install") commands[module_name(line.name)] = line.rest;
  std::vector<std::string> predecessors;
  for (const ModprobeLine& line : *config) {
    if (line.keyword != "softdep" || module_name(line.name) != kDriverModule) continue;
    for (const std::string& name : required_before(line.rest)) {
      const auto command = commands.find(name);
      const auto loaded =
          command == commands.end() ? std::vector{name} : loaded_by(command->second);
      predecessors.insert(predecessors.end(), loaded.begin(), loaded.end());
    }
  }
  if (predecessors.empty()) return {};
  return predecessors;
}

}  // namespace pvrdma::probes
