// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/executor/modules.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "agent/base/guarded.hpp"
#include "agent/executor/module_file.hpp"
#include "probes/kmod.hpp"
#include "probes/modprobe_config.hpp"
#include "probes/modules.hpp"

namespace pvrdma::executor {

namespace {

// The soft dependency of vmw_pvrdma in our modprobe.d file; it loads the predecessors.
constexpr const char* kPredecessors = "pvrdma_agent_before";

// The modules of a name or alias, or why there are none.
tl::expected<ModuleList, OperationResult> look_up(kmod_ctx* context, const std::string& name) {
  // libkmod 30 distinguishes a missing index from a missing module in some lookups only.
  const std::string index = std::string{kmod_get_dirname(context)} + "/modules.dep.bin";
  if (::access(index.c_str(), R_OK) != 0)
    return tl::unexpected(failed({errno, "reading the running kernel's module index", index}));
  kmod_list* raw = nullptr;
  const int code = kmod_module_new_from_lookup(context, name.c_str(), &raw);
  ModuleList list{raw};
  if (code < 0 && code != -ENOENT)
    return tl::unexpected(failed({-code, "looking up module", name}));
  if (!list)
    return tl::unexpected(
        OperationResult{Outcome::NotShipped, "this kernel does not ship " + name, ENOENT, {}});
  return list;
}

bool is_blocked(kmod_ctx* context, const kmod_list* list) {
  kmod_list* raw = nullptr;
  if (kmod_module_apply_filter(context, KMOD_FILTER_BLACKLIST, list, &raw) < 0) return false;
  const ModuleList passed{raw};
  return !passed;
}

OperationResult rehearse_one(kmod_module* module) {
  const std::string name = kmod_module_get_name(module);
  const char* command = kmod_module_get_install_commands(module);
  // `install NAME /bin/false` is the usual way to forbid a module.
  if (command != nullptr && probes::loads_nothing(command))
    return {Outcome::Refused, "modprobe.d forbids it: install " + name + " " + command, EPERM, {}};
  const char* path = kmod_module_get_path(module);
  if (command == nullptr && path != nullptr && ::access(path, R_OK) != 0)
    return failed({errno, "finding the module file", path});
  return done();
}

// The modules of a name or alias, or why their insertion would probably fail.
tl::expected<std::vector<KernelModule>, OperationResult> insertable(kmod_ctx* context,
                                                                    const std::string& name) {
  const auto list = look_up(context, name);
  if (!list) return tl::unexpected(list.error());
  if (is_blocked(context, list->get()))
    return tl::unexpected(
        OperationResult{Outcome::Refused,
                        "modprobe.d or the kernel's command line forbids it: blacklist " + name,
                        EPERM,
                        {}});
  auto modules = modules_in(*list);
  for (const KernelModule& module : modules)
    if (OperationResult one = rehearse_one(module.get()); !one.good())
      return tl::unexpected(std::move(one));
  return modules;
}

// Runs the `install` command of a module, which may be a dependency. `data` collects the commands
// for the report.
int run_install(kmod_module* module, const char* command, void* data) {
  const char* name = kmod_module_get_name(module);
  // The planner loads the predecessors itself, by a configuration that modprobe.d does not know.
  if (std::string_view{name} == kPredecessors) return 0;
  auto& commands = *static_cast<std::string*>(data);
  const int noted = guarded([&] {
    commands += std::string{commands.empty() ? "" : "; "} + "install " + name + " " + command;
  });
  if (noted < 0) return noted;
  // modprobe.d(5) promises this variable to the command. The environment of this process belongs to
  // all its threads, and another one may be loading another module.
  const std::string line = std::string{"export MODPROBE_MODULE="} + name + "; " + command;
  const int status = std::system(line.c_str());
  if (status == -1) return -errno;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ECANCELED;
}

OperationResult insert_one(kmod_module* module) {
  const std::string name = kmod_module_get_name(module);
  const int state = kmod_module_get_initstate(module);
  if (state == KMOD_MODULE_BUILTIN) return already_done(name + " is built into the kernel");
  if (state == KMOD_MODULE_LIVE) return already_done(name + " is loaded");
  std::string commands;
  const int code = kmod_module_probe_insert_module(module, KMOD_PROBE_FAIL_ON_LOADED, nullptr,
                                                   run_install, &commands, nullptr);
  OperationResult result = insertion_report(name, code < 0 ? -code : 0);
  if (!commands.empty())
    result.detail +=
        (result.detail.empty() ? "" : " ") + ("(modprobe.d's command was run: " + commands + ")");
  return result;
}

// Whether the module is loaded or built in. Asks the kernel, so it needs no module index.
bool is_in_kernel(const std::string& name) {
  const std::filesystem::path directory = "/sys/module/" + name;
  const auto state = read_attribute(directory / "initstate");
  if (state) return *state == "live";
  // A built-in module has a directory without initstate; a loaded one always has that file.
  return means_absent(state.error()) && ::access(directory.c_str(), F_OK) == 0;
}

}  // namespace

OperationResult insertion_report(const std::string& name, int code) {
  OperationResult result{Outcome::Failed,
                         "inserting " + name + ": " + std::generic_category().message(code),
                         code,
                         {}};
  switch (code) {
    case 0:
      return done();
    case EEXIST:
      return already_done(name + " is loaded");
    // Linux kernel/module/signing.c
    case EKEYREJECTED:
    case ENOKEY:
    case EKEYEXPIRED:
    case EKEYREVOKED:
    case ENOPKG:
      result.outcome = Outcome::Refused;
      result.detail +=
          ": the kernel takes signed modules only (Secure Boot), and this one's "
          "signature is missing or its key not enrolled";
      break;
    // Or a missing CAP_SYS_MODULE.
    case EPERM:
      result.outcome = Outcome::Refused;
      result.detail +=
          ": the kernel forbids it (lockdown, kernel.modules_disabled, or module_blacklist= on its "
          "command line)";
      break;
    case ENOEXEC:
      result.detail += ": it was built for another kernel, or is damaged";
      break;
    case ENOENT:
      result.detail +=
          ": the file is gone, or a module that it needs is not in the kernel (\"Unknown symbol\" "
          "in the kernel's log), for instance since modprobe.d has an install line for that module";
      break;
    case EINVAL:
      result.detail +=
          ": it was built for other modules than those in the kernel (\"disagrees about version of "
          "symbol\" in the kernel's log), for instance since a vendor's OFED replaced them, or "
          "modprobe.d gives it, or a module that it needs, an option with a wrong value "
          "(\"invalid for parameter\" in the kernel's log)";
      break;
    case ECANCELED:
      result.detail = "inserting " + name + ": its install command failed";
      break;
    default:
      break;
  }
  return result;
}

OperationResult removal_report(const std::string& name, int code) {
  switch (code) {
    case 0:
      return done();
    case ENOENT:
      return already_done(name + " is not loaded");
    case EAGAIN:
      return {Outcome::InUse, name + " is in use", code, {}};
    case EPERM:
      return {Outcome::Refused,
              "the kernel forbids removing " + name + " (kernel.modules_disabled)",
              code,
              {}};
    // The module is still in its init function, is being removed, or has no exit function
    // (delete_module(2)).
    case EBUSY:
      return {Outcome::Failed, name + " cannot be removed in its present state", code, {}};
    default:
      return failed({code, "removing", name});
  }
}

Result<Modules> Modules::open(const ModulePaths& paths) {
  std::vector<const char*> directories;
  for (const std::string& directory : paths.config_directories)
    directories.push_back(directory.c_str());
  directories.push_back(nullptr);
  Context context{kmod_new(paths.index_directory.empty() ? nullptr : paths.index_directory.c_str(),
                           paths.config_directories.empty() ? nullptr : directories.data())};
  // Without a directory libkmod has not learnt the kernel's release: uname(2) failed.
  if (!context || kmod_get_dirname(context.get()) == nullptr)
    return fail(ENOMEM, "opening", "libkmod");
  probes::route_log(context.get());
  return Modules{std::move(context)};
}

OperationResult Modules::rehearse(const std::string& name) const {
  const auto modules = insertable(context_.get(), name);
  return modules ? done() : modules.error();
}

OperationResult Modules::rehearse_again(const Root& root, const std::string& name) const {
  const auto modules = insertable(context_.get(), name);
  if (!modules) return modules.error();
  for (const KernelModule& module : *modules) {
    // With an `install` command, the command decides which file is inserted.
    if (kmod_module_get_install_commands(module.get()) != nullptr) continue;
    if (auto objection = objection_to_file(root, module.get())) return std::move(*objection);
  }
  return done();
}

OperationResult Modules::insert(const std::string& name) const {
  if (is_in_kernel(probes::with_underscores(name))) return already_done(name + " is loaded");
  const auto modules = insertable(context_.get(), name);
  if (!modules) return modules.error();
  OperationResult result = already_done(name + " is loaded");
  for (const KernelModule& module : *modules) {
    OperationResult one = insert_one(module.get());
    if (!one.good()) return one;
    if (one.outcome == Outcome::Done) result = std::move(one);
  }
  return result;
}

OperationResult Modules::remove(const std::string& name) const {
  kmod_module* raw = nullptr;
  const int code = kmod_module_new_from_name(context_.get(), name.c_str(), &raw);
  if (code < 0) return failed({-code, "looking up module", name});
  const KernelModule module{raw};
  // KMOD_REMOVE_NOWAIT is O_NONBLOCK: a module in use is refused at once (delete_module(2)).
  return removal_report(name, -kmod_module_remove_module(module.get(), KMOD_REMOVE_NOWAIT));
}

}  // namespace pvrdma::executor
