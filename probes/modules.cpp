// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/modules.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>

#include "agent/base/handle.hpp"
#include "agent/base/text.hpp"

namespace pvrdma::probes {

namespace {

std::optional<ModuleInit> init_from_proc(std::string_view word) {
  if (word == "Live") return ModuleInit::Live;
  if (word == "Loading") return ModuleInit::Coming;
  if (word == "Unloading") return ModuleInit::Going;
  return std::nullopt;
}

// "vmw_pvrdma 81920 0 - Live 0xffffffffc0a5d000 (O)": name, size, number of users, users, state,
// address.
Result<void> parse_line(std::string_view line, std::string& name, LoadedModule& module) {
  const std::string whole{line};
  name = cut(line, ' ');
  cut(line, ' ');
  const std::string_view users = cut(line, ' ');
  cut(line, ' ');
  const auto init = init_from_proc(cut(line, ' '));
  const auto count = number_from<unsigned>(users);
  // "-1" while it is being unloaded (module_refcount(), kernel/module/main.c, Linux 6.1), "-" where
  // the kernel cannot unload.
  const bool uncounted = users == "-" || (users == "-1" && init == ModuleInit::Going);
  if (name.empty() || !init || (!count && !uncounted))
    return fail(EBADMSG, "reading in /proc/modules", whole);
  module.init = *init;
  if (count) module.refcount = *count;
  return {};
}

// For a module that /proc/modules does not list, or where that list could not be read. A built-in
// module has a directory in /sys/module without initstate.
void fill_from_sysfs(const Root& root, Module& module) {
  const auto directory = root / ("/sys/module/" + module.name);
  const auto state = read_attribute(directory / "initstate");
  if (state) {
    const auto init = from_word<ModuleInit>(*state);
    module.init = init ? Field<ModuleInit>{*init}
                       : Field<ModuleInit>::unreadable({EBADMSG, "reading", directory});
    const auto users = read_attribute(directory / "refcnt");
    if (users)
      if (const auto count = number_from<unsigned>(*users)) module.refcount = *count;
    if (!users && !means_absent(users.error()))
      module.refcount = Field<unsigned>::unreadable(users.error());
  } else if (!means_absent(state.error())) {
    module.init = Field<ModuleInit>::unreadable(state.error());
  } else if (list_directory(directory) || module.shipped.is(Shipped::BuiltIn)) {
    module.init = ModuleInit::BuiltIn;
  }
}

// Positions in the whole list -> ranks among these modules.
void rank(std::vector<Module>& modules) {
  std::vector<unsigned> positions;
  for (const Module& module : modules)
    if (module.load_order.is_known()) positions.push_back(*module.load_order.get());
  std::sort(positions.begin(), positions.end());
  for (Module& module : modules) {
    if (!module.load_order.is_known()) continue;
    const auto at = std::lower_bound(positions.begin(), positions.end(), *module.load_order.get());
    module.load_order = static_cast<unsigned>(at - positions.begin());
  }
}

std::vector<Module> named(const std::vector<std::string>& names) {
  std::vector<Module> modules;
  for (const std::string& name : names) {
    Module module;
    module.name = with_underscores(name);
    const auto same = [&](const Module& other) { return other.name == module.name; };
    if (std::none_of(modules.begin(), modules.end(), same)) modules.push_back(std::move(module));
  }
  return modules;
}

// Whether the index is older than the look `previous`. A file's time can only be compared with the
// wall clock, so there is a margin for steps of that clock. depmod replaces the file, so the change
// time counts, not the modification time, which may come from a package.
bool index_is_older(const RootedPath& index, const Snapshot& previous) {
  constexpr std::chrono::seconds kMargin{60};
  const auto status = status_of(index);
  if (!status) return false;
  const auto changed = std::chrono::system_clock::from_time_t(status->st_ctim.tv_sec);
  const auto age = std::chrono::system_clock::now() - changed;
  return age > BootClock::now() - previous.taken_at + kMargin;
}

void fill_shipped(const Root& root, const Field<std::string>& kernel, const Snapshot* previous,
                  const ShippedFinder& find, std::vector<Module>& modules) {
  if (!kernel.is_known()) {
    const Error unknown{ENODATA, "finding the module index of", "a kernel of unknown release"};
    for (Module& module : modules)
      if (!module.shipped.is_known())
        module.shipped =
            Field<Shipped>::unreadable(kernel.error() != nullptr ? *kernel.error() : unknown);
    return;
  }
  const auto index = root / kModuleFolder / *kernel.get() / kModuleIndex;
  const bool same_index =
      previous != nullptr && previous->kernel == kernel && index_is_older(index, *previous);
  std::vector<std::string> wanted;
  for (Module& module : modules) {
    if (module.shipped.is_known()) continue;
    const Module* before = same_index ? previous->module(module.name) : nullptr;
    // For a module that was loaded, `needs` was not read from the index.
    if (before != nullptr && before->shipped.is_known() && !before->load_order.is_known()) {
      module.shipped = before->shipped;
      module.needs = before->needs;
    } else {
      wanted.push_back(module.name);
    }
  }
  if (wanted.empty() || !find) return;
  auto found = find(root, *kernel.get(), wanted);
  for (std::size_t at = 0; at < wanted.size(); ++at)
    for (Module& module : modules)
      if (module.name == wanted[at]) {
        module.shipped = std::move(found[at].shipped);
        module.needs = std::move(found[at].needs);
      }
}

// Fills in what blocks the load of modules that are not loaded. A needed module that is in the
// kernel already is not loaded again, so nothing can block it.
void fill_blocked(const Root& root, const ModprobeReader& read, std::vector<Module>& modules) {
  std::vector<WantedModule> wanted;
  for (const Module& module : modules) {
    if (!module.init.is_absent() || !module.shipped.is(Shipped::Loadable)) continue;
    wanted.push_back({module.name, module.needs});
    std::erase_if(wanted.back().needs, [&](const std::string& name) {
      return list_directory(root / ("/sys/module/" + name)).has_value();
    });
  }
  if (wanted.empty() || !read) return;
  const auto blocks = find_module_blocks(read(root), command_line_of(root), wanted);
  for (Module& module : modules) {
    const bool is_asked = std::ranges::count(wanted, module.name, &WantedModule::name) > 0;
    if (is_asked && blocks.is_unreadable())
      module.blocked = Field<std::string>::unreadable(*blocks.error());
    for (const ModuleBlock& block : blocks.value_or({}))
      if (block.module == module.name) module.blocked = block.how;
  }
}

}  // namespace

std::string with_underscores(std::string_view name) {
  std::string spelled{name};
  std::replace(spelled.begin(), spelled.end(), '-', '_');
  return spelled;
}

std::string module_of(std::string_view path) {
  const std::string_view name = base_name(path);
  return with_underscores(name.substr(0, name.find(".ko")));
}

Result<std::map<std::string, LoadedModule>> parse_proc_modules(std::string_view text) {
  std::map<std::string, LoadedModule> modules;
  auto position = static_cast<unsigned>(std::count(text.begin(), text.end(), '\n'));
  while (!text.empty()) {
    std::string name;
    LoadedModule module;
    if (auto parsed = parse_line(cut(text, '\n'), name, module); !parsed)
      return fail(std::move(parsed.error()));
    module.position = position;
    if (position > 0) --position;
    modules.emplace(std::move(name), std::move(module));
  }
  return modules;
}

std::vector<Module> look_at_modules(const Root& root, const Field<std::string>& kernel,
                                    const std::vector<std::string>& names, const Snapshot* previous,
                                    const ShippedFinder& find, const ModprobeReader& modprobe) {
  std::vector<Module> modules = named(names);
  const auto loaded = read_file(root / "/proc/modules").and_then([](const std::string& text) {
    return parse_proc_modules(text);
  });
  const auto is_loaded = [&](const Module& module) {
    return loaded && loaded->count(module.name) > 0;
  };
  for (Module& module : modules) {
    if (!is_loaded(module)) continue;
    const LoadedModule& found = loaded->at(module.name);
    module.init = found.init;
    module.refcount = found.refcount;
    module.load_order = found.position;
    module.shipped = Shipped::Loadable;
  }
  fill_shipped(root, kernel, previous, find, modules);
  for (Module& module : modules) {
    if (is_loaded(module)) continue;
    fill_from_sysfs(root, module);
    if (!loaded && module.init.is_known() && !module.init.is(ModuleInit::BuiltIn))
      module.load_order = Field<unsigned>::unreadable(loaded.error());
  }
  fill_blocked(root, modprobe, modules);
  rank(modules);
  return modules;
}

Module look_at_driver(const Root& root) {
  return look_at_modules(root, {}, {kDriverModule}, nullptr, {}).front();
}

}  // namespace pvrdma::probes
