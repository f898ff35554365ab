// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/next_boot/forecast.hpp"

#include <map>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/model/adapter_match.hpp"
#include "agent/tools/next_boot/command.hpp"
#include "agent/tools/next_boot/initramfs_content.hpp"
#include "agent/tools/survey/link_files.hpp"
#include "agent/tools/survey/machine.hpp"
#include "agent/tools/survey/recipe.hpp"
#include "probes/initramfs.hpp"
#include "probes/module_lookup.hpp"
#include "probes/modules.hpp"
#include "probes/pci.hpp"
#include "probes/recipe/boot_scripts.hpp"

namespace pvrdma::probes {

namespace {

// The driver, the module it needs (vmxnet3), and the modules before it.
std::vector<std::string> modules_of(const Config& config) {
  std::vector<std::string> modules{kDriverModule, kNetModule};
  append(modules, config.modules.before);
  return modules;
}

constexpr Milliseconds kUnpackWithin{30'000};  // an emulated guest takes seconds

// `program`: the path of initramfs-content.
Field<InitramfsForecast> look_into_initramfs(const Root& root, const std::string& release,
                                             const std::vector<std::string>& modules,
                                             const std::string& program) {
  const auto image = look_at_initramfs(root, release);
  if (const Error* error = image.error()) return Field<InitramfsForecast>::unreadable(*error);
  if (image.is_absent()) return {};
  InitramfsForecast ahead{image.get()->path, {}, {}, image.get()->older_than};
  const auto content = run_initramfs_content(program, root / ahead.path, kUnpackWithin);
  if (!content) {
    ahead.modules = Field<std::vector<std::string>>::unreadable(content.error());
    ahead.current = Field<bool>::unreadable(content.error());
    return ahead;
  }
  std::vector<std::string> held;
  for (const std::string& name : modules)
    if (content->modules.contains(name)) held.push_back(name);
  ahead.modules = std::move(held);
  const auto now = driver_configuration(root);
  ahead.current =
      now ? Field<bool>{*now == content->configuration} : Field<bool>::unreadable(now.error());
  return ahead;
}

void look_at_kernel(const Root& root, const ctl::NextBootOptions& options,
                    const std::vector<std::string>& modules, bool needs_signature,
                    KernelForecast& kernel) {
  const auto shipped = look_up_shipped(options.module_lookup, root, kernel.release, modules);
  for (std::size_t at = 0; at < modules.size(); ++at)
    kernel.modules.push_back({modules[at], shipped[at].shipped, shipped[at].needs});
  if (needs_signature && shipped.front().shipped.is(Shipped::Loadable)) {
    const auto signer = look_up_signer(options.module_lookup, root, kernel.release, kDriverModule);
    kernel.driver_signed = signer.is_unreadable() ? Field<bool>::unreadable(*signer.error())
                                                  : Field<bool>{signer.is_known()};
  }
  // An image cannot hold a driver that its kernel does not have, and unpacking it takes a while.
  if (!shipped.front().shipped.is(Shipped::Missing))
    kernel.initramfs =
        look_into_initramfs(root, kernel.release, modules, options.initramfs_content);
}

// Takes the adapters of this machine; an image has none, so there the [[adapter]] entries are
// taken.
void look_at_links(const Root& root, const Config& config, Forecast& forecast) {
  const auto adapters = find_adapters(root);
  if (!adapters && !means_absent(adapters.error())) forecast.unreadable.push_back(adapters.error());
  const auto take = [&](LinkForecast link, const AdapterConfig& entry) {
    link.manage = entry.manage;
    link.addressed = !entry.addresses.empty();
    link.owner = look_at_link_files(root, {link.netdev, link.mac}).owner;
    forecast.links.push_back(std::move(link));
  };
  for (const PciAdapter& adapter : adapters.value_or(std::vector<PciAdapter>{})) {
    LinkForecast link;
    link.adapter = adapter.function;
    link.netdev = adapter.netdev.value_or("");
    Field<std::string> mac;
    if (!link.netdev.empty()) mac = Field<std::string>::from(present_mac(root, link.netdev));
    link.mac = mac.value_or("");
    const auto entry = find_config(
        config, {adapter.function, adapter.net_function, adapter.netdev, std::move(mac)});
    static const AdapterConfig unknown{};
    take(std::move(link), *entry.value_or(&unknown));
    if (!entry) forecast.links.back().owner = Field<LinkOwner>::unreadable(entry.error());
  }
  // Where this machine has adapters, the agent itself has a finding for entries that match none.
  if (!forecast.links.empty()) return;
  for (const AdapterConfig& entry : config.adapters) {
    LinkForecast link;
    link.netdev = entry.match.netdev.value_or("");
    link.mac = entry.match.mac.value_or("");
    link.adapter = entry.match.pci.value_or(to_string(entry.match));
    take(std::move(link), entry);
  }
}

void look_at_scripts(const Root& root, const Config& config, Forecast& forecast) {
  RecipeScope scope;
  scope.modules = config.modules.before;
  const Recipe recipe = find_recipe(root, scope);
  const auto nothing_moves = [](const std::string&) -> Result<bool> { return false; };
  forecast.boot_scripts = boot_scripts(root, recipe, scope, nothing_moves, BootTime{});
  // `ended` tells about this boot only.
  for (BootScript& script : forecast.boot_scripts) script.ended = false;
  append(forecast.unreadable, unread_files(recipe));
}

// The modules, with the modules that they need in the next kernel, or, where that is not known, in
// any.
std::vector<WantedModule> wanted_modules(const std::vector<std::string>& modules,
                                         const Forecast& forecast) {
  const NextKernel* next = forecast.next.get();
  std::vector<WantedModule> wanted;
  for (const std::string& name : modules) {
    std::vector<std::string> needs;
    for (const KernelForecast& kernel : forecast.kernels) {
      if (next != nullptr && kernel.release != next->release) continue;
      for (const ShippedModule& module : kernel.modules)
        for (const std::string& need : module.needs)
          if (module.name == name && !contains(needs, need)) needs.push_back(need);
    }
    wanted.push_back({name, std::move(needs)});
  }
  return wanted;
}

// The next boot's command line, where it is known, replaces this boot's.
void look_at_blocks(const Root& root, const ModprobeConfig& modprobe,
                    const std::vector<std::string>& modules, Forecast& forecast) {
  const NextKernel* next = forecast.next.get();
  const bool known = next != nullptr && !next->options.empty();
  const auto command_line = known ? Result<std::string>{next->options} : command_line_of(root);
  forecast.blocks = find_module_blocks(modprobe, command_line, wanted_modules(modules, forecast));
  forecast.claims = find_function_claims(modprobe, command_line);
}

// "pre: a b post: c" -> a, b.
std::vector<std::string> required_before(std::string_view text) {
  std::vector<std::string> names;
  bool before = false;
  for (const std::string_view word : split_at_blanks(text)) {
    if (word == "pre:" || word == "post:")
      before = word == "pre:";
    else if (before)
      names.push_back(with_underscores(word));
  }
  return names;
}

}  // namespace

std::vector<std::string> loaded_by(std::string_view command) {
  std::vector<std::string> names;
  const std::string_view program = cut(command, ' ');
  if (base_name(program) != "modprobe") return names;
  while (!command.empty()) {
    const std::string_view word = cut(command, ' ');
    if (word == ";" || word == "||" || word == "&&") break;
    if (!word.empty() && !word.starts_with('-')) names.push_back(with_underscores(word));
  }
  return names;
}

Field<std::vector<std::string>> driver_predecessors(const ModprobeConfig& config) {
  if (!config) return Field<std::vector<std::string>>::unreadable(config.error());
  std::map<std::string, std::string> commands;
  for (const ModprobeLine& line : *config)
    if (line.keyword == "install") commands.emplace(line.name, line.rest);
  // libkmod takes the first line of each kind (kmod_module_get_softdeps()).
  const auto softdep = std::ranges::find_if(*config, [](const ModprobeLine& line) {
    return line.keyword == "softdep" && line.name == kDriverModule;
  });
  if (softdep == config->end()) return {};
  std::vector<std::string> predecessors;
  for (const std::string& name : required_before(softdep->rest)) {
    const auto command = commands.find(name);
    const auto loaded = command == commands.end() ? std::vector{name} : loaded_by(command->second);
    predecessors.insert(predecessors.end(), loaded.begin(), loaded.end());
  }
  if (predecessors.empty()) return {};
  return predecessors;
}

Forecast look_ahead(const Config& config, const ctl::NextBootOptions& options) {
  const Root root{options.root};
  const std::vector<std::string> modules = modules_of(config);
  Forecast forecast;
  const auto running = read_attribute(root / "/proc/sys/kernel/osrelease");
  if (auto installed = installed_kernels(root, running.value_or("")))
    forecast.kernels = std::move(*installed);
  else
    forecast.unreadable.push_back(installed.error());
  // An image's /sys says nothing about the firmware that it will boot on.
  const bool needs_signature = root.is_this_system() && secure_boot(root).is(true);
  for (KernelForecast& kernel : forecast.kernels)
    look_at_kernel(root, options, modules, needs_signature, kernel);
  forecast.next = next_kernel(root, forecast.kernels);
  const auto modprobe = read_modprobe_config(options.module_lookup, root, ModprobeOf::NextBoot);
  forecast.predecessors = driver_predecessors(modprobe);
  forecast.agent = unit_file(root, "pvrdma-agent.service");
  forecast.executor = unit_file(root, "pvrdma-agent-executor.socket");
  look_at_links(root, config, forecast);
  forecast.login_memlock = login_memlock_on_disk(root);
  for (const std::string& unit : options.units)
    forecast.unit_memlocks.push_back(unit_memlock_on_disk(root, unit));
  look_at_blocks(root, modprobe, modules, forecast);
  look_at_scripts(root, config, forecast);
  return forecast;
}

}  // namespace pvrdma::probes
