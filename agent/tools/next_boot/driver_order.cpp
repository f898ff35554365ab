#include "agent/tools/next_boot/driver_order.hpp"

#include <map>

#include "agent/base/handle.hpp"
#include "agent/base/text.hpp"
#include "agent/model/snapshot.hpp"
#include "probes/modprobe_config.hpp"
#include "probes/modules.hpp"

namespace pvrdma::probes {

namespace {

using Lines = Handle<kmod_config_iter, kmod_config_iter_free_iter>;

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

std::map<std::string, std::string> install_commands(kmod_ctx* context) {
  std::map<std::string, std::string> commands;
  const Lines lines{kmod_config_get_install_commands(context)};
  while (lines && kmod_config_iter_next(lines.get()))
    if (const char* command = kmod_config_iter_get_value(lines.get()))
      commands[module_name(kmod_config_iter_get_key(lines.get()))] = command;
  return commands;
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

Field<std::vector<std::string>> driver_predecessors(const Root& root) {
  const auto context = open_modprobe_config(root, ModprobeOf::NextBoot);
  if (!context) return Field<std::vector<std::string>>::unreadable(context.error());
  const auto commands = install_commands(context->get());
  std::vector<std::string> predecessors;
  const Lines lines{kmod_config_get_softdeps(context->get())};
  while (lines && kmod_config_iter_next(lines.get())) {
    if (module_name(kmod_config_iter_get_key(lines.get())) != kDriverModule) continue;
    const char* text = kmod_config_iter_get_value(lines.get());
    for (const std::string& name : required_before(text != nullptr ? text : "")) {
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
