// SPDX-License-Identifier: GPL-2.0-or-later
// Kernel modules: loaded or not, in which order, used by how many, and shipped by this kernel.
//
// /proc/modules tells all about loaded ones in one read; /sys/module fills in for what is built in.
// What the kernel ships comes from its module index by way of libkmod, in a context that lives as
// long as the look, so nothing of it stays in memory.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"
#include "probes/modprobe_config.hpp"

namespace pvrdma::probes {

inline constexpr const char* kModuleFolder = "/lib/modules";    // a folder for each kernel below it
inline constexpr const char* kModuleIndex = "modules.dep.bin";  // of depmod(8), in that folder

// With underscores, as the kernel spells it: "rdma-cm" and "rdma_cm" are the same module.
[[nodiscard]] std::string module_name(std::string_view name);

struct LoadedModule {
  ModuleInit init = ModuleInit::Live;
  Field<unsigned> refcount;  // absent: a kernel without CONFIG_MODULE_UNLOAD
  unsigned position = 0;     // from the end of the list: larger was loaded later
};

// The text of /proc/modules (proc(5); Linux kernel/module/procfs.c lists the newest first), by
// name. EBADMSG: a line that is not of that form.
[[nodiscard]] Result<std::map<std::string, LoadedModule>> parse_proc_modules(std::string_view text);

// What depmod(8)'s index of a kernel has of a module.
struct IndexEntry {
  Field<Shipped> shipped;
  // The modules that must be in the kernel before it, all of them; without those built in.
  std::vector<std::string> needs{};
  friend bool operator==(const IndexEntry&, const IndexEntry&) = default;
};

// What the kernel's module index has of each module, in the order of `names`.
using ShippedFinder = std::function<std::vector<IndexEntry>(
    const Root& root, const std::string& release, const std::vector<std::string>& names)>;
// modprobe.d(5) as it is now (read_modprobe_config(), modprobe_config.hpp).
using ModprobeReader = std::function<ModprobeConfig(const Root& root)>;

// One entry for each name, in that order, duplicates dropped. Module::load_order counts among these
// modules only, so that loading an unrelated module changes nothing here. `previous` (or null): an
// earlier look at the same kernel; what it found in the module index is taken over while that index
// has not changed. A module that is loaded is shipped; for the others `find` is asked, if there is
// one, and for those that could be loaded `modprobe`, if there is one.
[[nodiscard]] std::vector<Module> look_at_modules(
    const Root& root, const Field<std::string>& kernel, const std::vector<std::string>& names,
    const Snapshot* previous, const ShippedFinder& find, const ModprobeReader& modprobe = {});

}  // namespace pvrdma::probes
