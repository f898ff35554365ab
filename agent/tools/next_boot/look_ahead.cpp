#include "agent/tools/next_boot/look_ahead.hpp"

#include <algorithm>
#include <utility>

#include "agent/model/adapter_match.hpp"
#include "agent/tools/next_boot/driver_order.hpp"
#include "agent/tools/next_boot/initramfs_content.hpp"
#include "agent/tools/next_boot/kernels.hpp"
#include "agent/tools/next_boot/link_files.hpp"
#include "probes/initramfs.hpp"
#include "probes/modprobe_config.hpp"
#include "probes/module_lookup.hpp"
#include "probes/modules.hpp"
#include "probes/pci.hpp"
#include "probes/recipe/boot_scripts.hpp"
#include "probes/unit_files.hpp"

namespace pvrdma::probes {

namespace {

// The driver, what it cannot do without, and what goes before it.
std::vector<std::string> modules_of(const Config& config) {
  std::vector<std::string> modules{kDriverModule, kNetModule};
  for (const std::string& name : config.modules.before) modules.push_back(module_name(name));
  return modules;
}

constexpr Milliseconds kUnpackWithin{30'000};  // an emulated guest takes seconds

Field<InitramfsForecast> look_into_initramfs(const ForecastOptions& options,
                                             const std::string& release,
                                             const std::vector<std::string>& modules) {
  const Root& root = options.root;
  const auto image = look_at_initramfs(root, release);
  if (const Error* error = image.error()) return Field<InitramfsForecast>::unreadable(*error);
  if (image.is_absent()) return {};
  InitramfsForecast ahead{image.get()->path, {}, {}, image.get()->older_than};
  const auto content =
      run_initramfs_content(options.initramfs_content, root / ahead.path, kUnpackWithin);
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

KernelForecast look_at_kernel(const ForecastOptions& options, const InstalledKernel& kernel,
                              bool running, const std::vector<std::string>& modules) {
  KernelForecast ahead;
  ahead.release = kernel.release;
  ahead.image = kernel.image;
  ahead.running = running;
  const auto shipped =
      look_up_shipped(options.module_lookup, options.root, kernel.release, modules);
  for (std::size_t at = 0; at < modules.size(); ++at)
    ahead.modules.push_back({modules[at], shipped[at]});
  // No image holds a driver that its kernel does not have; unpacking one takes a while.
  if (!shipped.front().is(Shipped::Missing))
    ahead.initramfs = look_into_initramfs(options, kernel.release, modules);
  return ahead;
}

// The adapters that are here, and what the configuration has for others, as in an image.
void look_at_links(const ForecastOptions& options, Forecast& forecast) {
  const auto adapters = find_adapters(options.root);
  if (!adapters && !means_absent(adapters.error())) forecast.unreadable.push_back(adapters.error());
  const auto take = [&](LinkForecast link, const AdapterConfig& config) {
    link.manage = config.manage;
    link.addressed = !config.addresses.empty();
    link.owner = link_owner_on_disk(options.root, {link.netdev, link.mac});
    forecast.links.push_back(std::move(link));
  };
  for (const PciAdapter& adapter : adapters.value_or(std::vector<PciAdapter>{})) {
    LinkForecast link;
    link.adapter = adapter.function;
    link.netdev = adapter.netdev.value_or("");
    Field<std::string> mac;
    if (!link.netdev.empty())
      mac = Field<std::string>::from(
          read_attribute(options.root / ("/sys/class/net/" + link.netdev + "/address")));
    link.mac = mac.value_or("");
    const auto config = find_config(
        options.config, {adapter.function, adapter.net_function, adapter.netdev, std::move(mac)});
    if (!config) forecast.unreadable.push_back(config.error());
    take(std::move(link), *config.value_or(&options.config.every_adapter));
  }
  // Beside adapters that are here, an entry for others is a finding of the agent's own.
  if (!forecast.links.empty()) return;
  for (const AdapterConfig& config : options.config.adapters) {
    LinkForecast link;
    link.netdev = config.match.netdev.value_or("");
    link.mac = config.match.mac.value_or("");
    link.adapter = config.match.pci.value_or(to_string(config.match));
    take(std::move(link), config);
  }
}

void look_at_scripts(const ForecastOptions& options, Forecast& forecast) {
  RecipeScope scope;
  scope.modules = options.config.modules.before;
  Recipe recipe = find_recipe(options.root, scope);
  const auto nothing_moves = [](const std::string&) -> Result<bool> { return false; };
  forecast.boot_scripts = boot_scripts(options.root, recipe, scope, nothing_moves, BootTime{});
  // Whether one has ended is this boot's matter.
  for (BootScript& script : forecast.boot_scripts) script.ended = false;
  std::move(recipe.unreadable.begin(), recipe.unreadable.end(),
            std::back_inserter(forecast.unreadable));
}

// The next boot's command line, where it is known, takes the place of this boot's.
void look_at_blocks(const ForecastOptions& options, const ModprobeConfig& modprobe,
                    const std::vector<std::string>& modules, Forecast& forecast) {
  forecast.blocks = find_module_blocks(modprobe, options.root, modules);
  const NextKernel* next = forecast.next.get();
  std::vector<ModuleBlock>* blocks = forecast.blocks.get();
  if (next == nullptr || next->options.empty() || blocks == nullptr) return;
  const auto line = read_file(options.root / "/proc/cmdline");
  const auto old = blocks_of_command_line(line.value_or(std::string{}));
  std::erase_if(*blocks, [&](const ModuleBlock& block) {
    return std::find(old.begin(), old.end(), block) != old.end();
  });
  for (ModuleBlock& block : blocks_of_command_line(next->options))
    if (std::find(modules.begin(), modules.end(), block.module) != modules.end())
      blocks->push_back(std::move(block));
}

}  // namespace

Forecast look_ahead(const ForecastOptions& options) {
  const Root& root = options.root;
  const std::vector<std::string> modules = modules_of(options.config);
  Forecast forecast;
  const auto running = read_attribute(root / "/proc/sys/kernel/osrelease");
  const auto installed = installed_kernels(root, running.value_or(""));
  if (!installed) forecast.unreadable.push_back(installed.error());
  const std::vector<InstalledKernel> kernels = installed.value_or(std::vector<InstalledKernel>{});
  for (const InstalledKernel& kernel : kernels)
    forecast.kernels.push_back(
        look_at_kernel(options, kernel, running && *running == kernel.release, modules));
  forecast.next = next_kernel(root, kernels);
  const auto modprobe = read_modprobe_config(options.module_lookup, root, ModprobeOf::NextBoot);
  forecast.predecessors = driver_predecessors(modprobe);
  forecast.agent = unit_file(root, "pvrdma-agent.service");
  forecast.executor = unit_file(root, "pvrdma-agent-executor.socket");
  look_at_links(options, forecast);
  forecast.login_memlock = login_memlock_on_disk(root);
  for (const std::string& unit : options.units)
    forecast.unit_memlocks.push_back(unit_memlock_on_disk(root, unit));
  look_at_blocks(options, modprobe, modules, forecast);
  look_at_scripts(options, forecast);
  return forecast;
}

}  // namespace pvrdma::probes
