// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/doctor/survey_probe.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/model/snapshot.hpp"
#include "agent/tools/survey/machine.hpp"
#include "agent/tools/survey/memlock.hpp"
#include "agent/tools/survey/recipe.hpp"
#include "agent/tools/survey/unit_files.hpp"
#include "probes/modprobe_config.hpp"
#include "probes/module_lookup.hpp"
#include "probes/modules.hpp"
#include "probes/netdevs.hpp"
#include "probes/pci.hpp"

namespace pvrdma::probes {

namespace {

constexpr const char* kNodes = "/dev/infiniband";
constexpr std::string_view kVmxnet3 = "pci:v000015ADd000007B0";
constexpr std::string_view kMellanox = "pci:v000015B3";

Field<bool> may_open(const std::filesystem::path& path) {
  // Checks the effective IDs, as open(2) does.
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK, AT_EACCESS) == 0) return true;
  if (errno == EACCES || errno == EPERM || errno == EROFS) return false;
  return Field<bool>::unreadable({errno, "asking for access to", path});
}

Field<std::vector<std::string>> functions_like(const Result<std::vector<PciFunction>>& functions,
                                               std::string_view modalias) {
  if (!functions) return Field<std::vector<std::string>>::from(fail(functions.error()));
  std::vector<std::string> addresses;
  for (const PciFunction& function : *functions)
    if (function.modalias.starts_with(modalias)) addresses.push_back(function.address);
  return addresses;
}

void look_for_reloads(const Root& root, const Config& config, Survey& seen) {
  const Recipe recipe = find_whole_recipe(root, recipe_scope(root, config));
  for (const RecipeFile& file : recipe.files)
    for (const RecipeLine& line : file.lines)
      if (file.in_effect && line.touches_driver)
        seen.reloads.push_back({file.path, line.number, line.text, file.when, line.at_boot});
  for (const Error& error : unread_files(recipe)) seen.reloads_unread.push_back(error.message());
}

// The MAC addresses that the interfaces have now, and those of the devices themselves, which a bond
// replaces by that of another link.
std::vector<std::string> macs_here(const Root& root) {
  const auto folder = root / "/sys/class/net";
  std::vector<std::string> macs, devices;
  for (const std::string& name : list_directory(folder).value_or(std::vector<std::string>{})) {
    macs.push_back(present_mac(root, name).value_or(std::string{}));
    if (status_of(folder / name / "device")) devices.push_back(name);
  }
  for (const auto& netdev : look_at_netdevs(devices))
    if (netdev.is_known()) macs.push_back(netdev.get()->permanent_mac);
  return macs;
}

// Reads the files only if there are adapters, and not in a container, which has other files.
void look_at_profiles(const Root& root, Survey& seen) {
  const auto adapters = find_adapters(root);
  if (!adapters || adapters->empty() || seen.container.is_known()) return;
  const auto macs = macs_here(root);
  // A container may have an adapter's netdev, and with it a MAC address that cannot be seen here.
  const bool all_here = std::ranges::none_of(*adapters, [](const PciAdapter& one) {
    return one.net_driver.is_known() && !one.netdev.is_known();
  });
  for (const PciAdapter& adapter : *adapters) {
    const std::string netdev = adapter.netdev.value_or("");
    if (netdev.empty()) continue;
    const std::string mac = present_mac(root, netdev).value_or(std::string{});
    LinkFiles files = look_at_link_files(root, {netdev, mac});
    if (files.profiles.size() > 1) seen.profiles.push_back({netdev, std::move(files.profiles)});
    for (std::string& file : files.refused)
      if (!contains(seen.refused_profiles, file)) seen.refused_profiles.push_back(std::move(file));
    const auto is_here = [&](const std::string& one) { return contains(macs, one); };
    for (MacFile& one : files.macs)
      if (all_here && std::ranges::none_of(one.macs, is_here) && !contains(seen.foreign_macs, one))
        seen.foreign_macs.push_back(std::move(one));
  }
}

// The driver, the modules before it, and the modules that each depends on, as far as that is known.
// Loaded modules are among them: they may be blocked at the next boot.
std::vector<WantedModule> wanted_modules(const std::string& module_lookup, const Root& root,
                                         const std::string& kernel, const Config& config) {
  std::vector<std::string> names{kDriverModule, kNetModule};
  append(names, config.modules.before);
  std::vector<IndexEntry> entries(names.size());
  if (!kernel.empty()) entries = look_up_shipped(module_lookup, root, kernel, names);
  std::vector<WantedModule> wanted;
  for (std::size_t at = 0; at < names.size(); ++at)
    wanted.push_back({names[at], entries[at].needs});
  return wanted;
}

}  // namespace

Field<std::vector<DeviceNode>> device_nodes(const Root& root) {
  const auto names = list_directory(root / kNodes);
  if (!names) return Field<std::vector<DeviceNode>>::from(fail(names.error()));
  std::vector<DeviceNode> nodes;
  for (const std::string& name : *names) {
    const auto path = root / kNodes / name;
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISCHR(status.st_mode)) continue;
    nodes.push_back({name, status.st_mode & 07777U, may_open(path)});
  }
  return nodes;
}

Survey survey(const ctl::DoctorOptions& options, const Config& config) {
  const Root& root = options.root;
  const std::string& module_lookup = options.helpers.module_lookup;
  const char* const library_path = std::getenv("LD_LIBRARY_PATH");
  const auto functions = list_functions(root);
  Survey seen;
  seen.container = container_manager(root);
  seen.vendor = dmi(root, "sys_vendor");
  seen.product = dmi(root, "product_name");
  if (!seen.vendor.is_known() && !seen.container.is_known())
    seen.virtualization = virtualization(root);
  seen.nodes = device_nodes(root);
  seen.libraries = look_at_verbs_libraries(root, library_path == nullptr ? "" : library_path);
  seen.own_memlock = own_memlock();
  // slurmd sets it for jobs; salloc's shell on another machine has only SLURM_JOB_ID.
  seen.in_slurm_job = std::getenv("SLURMD_NODENAME") != nullptr;
  seen.may_lock_all = may_lock_all(root);
  seen.login_memlock = login_memlock(root);
  // The forecast of the next boot reads the same files. In a container systemd starts no login.
  if (seen.login_memlock.is_absent() && !seen.container.is_known())
    seen.login_memlock = login_memlock_on_disk(root);
  for (const std::string& unit : options.units) seen.unit_memlocks.push_back(unit_memlock(unit));
  seen.vmxnet3 = functions_like(functions, kVmxnet3);
  seen.mellanox = functions_like(functions, kMellanox);
  // The module index is found by the kernel's release: without a release it is not read.
  const std::string kernel =
      read_attribute(root / "/proc/sys/kernel/osrelease").value_or(std::string{});
  const auto modprobe = read_modprobe_config(module_lookup, root, ModprobeOf::ThisBoot);
  const auto command_line = command_line_of(root);
  seen.blocks = find_module_blocks(modprobe, command_line,
                                   wanted_modules(module_lookup, root, kernel, config));
  seen.claims = find_function_claims(modprobe, command_line);
  seen.secure_boot = secure_boot(root);
  if (!kernel.empty())
    seen.driver_signer = look_up_signer(module_lookup, root, kernel, kDriverModule);
  seen.os = os_release(root);
  seen.crash = look_for_kernel_crash(root);
  seen.complaints = parse_driver_complaints(read_kernel_log(root).value_or(std::string{}));
  seen.addresses = interface_addresses();
  seen.clock = clock_state(root, std::time(nullptr));
  look_for_reloads(root, config, seen);
  look_at_profiles(root, seen);
  return seen;
}

}  // namespace pvrdma::probes
