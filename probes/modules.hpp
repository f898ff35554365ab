// SPDX-License-Identifier: GPL-2.0-or-later
// Kernel modules: whether they are loaded, their load order and refcount, and whether this kernel
// ships them.
//
// One read of /proc/modules tells everything about loaded modules; /sys/module adds the built-in
// ones. The kernel's module index tells which modules it ships; a helper program asks libkmod for
// that.
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

// The name with underscores, as in the kernel: "rdma-cm" and "rdma_cm" are the same module.
[[nodiscard]] std::string with_underscores(std::string_view name);
// "/lib/modules/…/vmw-pvrdma.ko.xz" -> "vmw_pvrdma"
[[nodiscard]] std::string module_of(std::string_view path);

struct LoadedModule {
  ModuleInit init = ModuleInit::Live;
  Field<unsigned> refcount;  // absent: a kernel without CONFIG_MODULE_UNLOAD
  unsigned position = 0;     // counted from the end of the list: larger was loaded later
};

// The modules in the text of /proc/modules, by name (proc(5); Linux kernel/module/procfs.c lists
// the newest first). EBADMSG: a line has another form.
[[nodiscard]] Result<std::map<std::string, LoadedModule>> parse_proc_modules(std::string_view text);

// The entry of a module in depmod(8)'s index of a kernel.
struct IndexEntry {
  Field<Shipped> shipped;
  // All modules that must be in the kernel before it, except built-in ones.
  std::vector<std::string> needs{};
  friend bool operator==(const IndexEntry&, const IndexEntry&) = default;
};

// Yields the entry of each module in the kernel's module index, in the order of `names`.
using ShippedFinder = std::function<std::vector<IndexEntry>(
    const Root& root, const std::string& release, const std::vector<std::string>& names)>;
// Reads the present modprobe.d(5) (read_modprobe_config(), modprobe_config.hpp).
using ModprobeReader = std::function<ModprobeConfig(const Root& root)>;

// One entry for each name, in that order, without duplicates. Module::load_order counts only these
// modules, so that the load of an unrelated module changes nothing here. `previous` (or null): an
// earlier look at the same kernel; its entries from the module index are reused while the index has
// not changed. A loaded module counts as shipped; `find`, if set, is asked about the others, and
// `modprobe`, if set, is read for those that could be loaded.
[[nodiscard]] std::vector<Module> look_at_modules(
    const Root& root, const Field<std::string>& kernel, const std::vector<std::string>& names,
    const Snapshot* previous, const ShippedFinder& find, const ModprobeReader& modprobe = {});

// vmw_pvrdma alone, without a look at the module index if it is not loaded.
[[nodiscard]] Module look_at_driver(const Root& root);

}  // namespace pvrdma::probes
