// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/executor/module_file.hpp"

#include <cerrno>
#include <map>
#include <string>
#include <string_view>

#include "agent/base/text.hpp"

namespace pvrdma::executor {

namespace {

using Information = std::map<std::string, std::string, std::less<>>;

// The information that modinfo(8) shows. ENOSYS: the file's compression is unknown to this libkmod.
Result<Information> information_of(kmod_module* module) {
  kmod_list* raw = nullptr;
  const int code = kmod_module_get_info(module, &raw);
  const Handle<kmod_list, kmod_module_info_free_list> list{raw};
  const char* path = kmod_module_get_path(module);
  if (code < 0) return fail(-code, "reading the module file", path != nullptr ? path : "");
  Information found;
  for (kmod_list* at = raw; at != nullptr; at = kmod_list_next(raw, at))
    found.emplace(kmod_module_info_get_key(at), kmod_module_info_get_value(at));
  return found;
}

std::string value_of(const Information& information, std::string_view key) {
  const auto found = information.find(key);
  return found == information.end() ? "" : found->second;
}

// "6.1.0-18-amd64 SMP preempt mod_unload modversions ": the release, and the kernel's settings.
struct Build {
  std::string release;
  std::string settings;
};

Build build_of(const Information& information) {
  const std::string magic = value_of(information, "vermagic");
  std::string_view rest = magic;
  std::string release{cut(rest, ' ')};
  while (rest.ends_with(' ')) rest.remove_suffix(1);
  return {std::move(release), std::string{rest}};
}

// The settings of the running kernel, taken from a module of the kernel's own package that this one
// needs. Empty: it needs none that has a file.
std::string settings_of_kernel(kmod_module* module) {
  for (const KernelModule& one : modules_in(ModuleList{kmod_module_get_dependencies(module)}))
    if (const auto information = information_of(one.get()))
      if (std::string settings = build_of(*information).settings; !settings.empty())
        return settings;
  return {};
}

OperationResult refused(const std::string& what, int code) {
  return {Outcome::Refused, what, code, {}};
}

// Where symbols have versions, the kernel compares these instead of the release (same_magic() of
// kernel/module/version.c): distributions use one build for several kernels.
bool has_versions(const Build& build) {
  return has_part(" " + build.settings + " ", " modversions ");
}

std::optional<OperationResult> objection_to_build(const Root& root, kmod_module* module,
                                                  const std::string& path,
                                                  const Information& information) {
  const Build build = build_of(information);
  if (build.release.empty())
    return refused(path + " says for no kernel that it was built", ENOEXEC);
  const auto running = read_attribute(root / "/proc/sys/kernel/osrelease");
  if (!running) return failed(running.error());
  if (build.release != *running && !has_versions(build))
    return refused(
        path + " was built for Linux " + printable(build.release) + ", and this is " + *running,
        ENOEXEC);
  const std::string settings = settings_of_kernel(module);
  if (settings.empty() || build.settings == settings) return std::nullopt;
  return refused(path + " was built for a kernel with other settings (" +
                     printable(build.settings) + "), and this has " + printable(settings),
                 ENOEXEC);
}

// Why the kernel requires signatures; empty: it does not.
std::string reason_to_be_signed(const Root& root) {
  if (read_attribute(root / "/sys/module/module/parameters/sig_enforce").value_or("") == "Y")
    return "Secure Boot, or module.sig_enforce";
  const std::string lockdown = read_attribute(root / "/sys/kernel/security/lockdown").value_or("");
  const bool locked = has_part(lockdown, "[integrity]") || has_part(lockdown, "[confidentiality]");
  return locked ? "lockdown" : "";
}

}  // namespace

std::vector<KernelModule> modules_in(const ModuleList& list) {
  std::vector<KernelModule> modules;
  for (kmod_list* at = list.get(); at != nullptr; at = kmod_list_next(list.get(), at))
    modules.emplace_back(kmod_module_get_module(at));
  return modules;
}

std::optional<OperationResult> objection_to_file(const Root& root, kmod_module* module) {
  const char* file = kmod_module_get_path(module);
  if (file == nullptr) return std::nullopt;  // built in
  const std::string path = file;
  const auto information = information_of(module);
  if (!information) {
    // A kernel that decompresses modules itself (6.4) can load a file that this libkmod cannot
    // read.
    const bool unpacks = is_there(root / "/sys/module/compression").value_or(false);
    if (information.error().code == ENOSYS && unpacks) return std::nullopt;
    return failed(information.error());
  }
  const std::string name = value_of(*information, "name");
  if (!name.empty() && name != kmod_module_get_name(module))
    return refused(path + " is another module, " + printable(name), ENOEXEC);
  if (auto objection = objection_to_build(root, module, path, *information)) return objection;
  const std::string reason = reason_to_be_signed(root);
  if (reason.empty() || information->contains("sig_id")) return std::nullopt;
  return refused(
      path + " has no signature, and the kernel takes signed modules only (" + reason + ")",
      EKEYREJECTED);
}

}  // namespace pvrdma::executor
