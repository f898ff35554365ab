#include "probes/module_index.hpp"

#include <fcntl.h>
#include <libkmod.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "agent/base/handle.hpp"
#include "agent/base/rooted_path.hpp"
#include "probes/kmod_log.hpp"

namespace pvrdma::probes {

namespace {

constexpr const char* kModuleFolder = "/lib/modules";
constexpr const char* kIndex = "modules.dep.bin";

Field<Shipped> look_up(kmod_ctx* context, const std::string& name) {
  kmod_list* raw = nullptr;
  const int code = kmod_module_new_from_lookup(context, name.c_str(), &raw);
  const Handle<kmod_list, kmod_module_unref_list> list{raw};
  if (code < 0 && code != -ENOENT)
    return Field<Shipped>::unreadable({-code, "looking up module", name});
  if (!list) return Shipped::Missing;
  const Handle<kmod_module, kmod_module_unref> module{kmod_module_get_module(list.get())};
  return kmod_module_get_path(module.get()) != nullptr ? Shipped::Loadable : Shipped::BuiltIn;
}

// Whether an index of an image is a link, which depmod makes none: libkmod would follow it to this
// machine's files.
bool has_linked_index(const RootedPath& directory) {
  if (directory.on_this_system()) return false;
  const auto names = list_directory(directory).value_or(std::vector<std::string>{});
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto status = status_of(directory / name, FinalLink::Shown);
    return name.starts_with("modules.") && (!status || S_ISLNK(status->st_mode));
  });
}

}  // namespace

std::vector<Field<Shipped>> find_shipped(const Root& root, const std::string& release,
                                         const std::vector<std::string>& names) {
  const auto directory = root / kModuleFolder / release;
  const auto unreadable = [&](int code, const char* doing) {
    return std::vector<Field<Shipped>>(names.size(),
                                       Field<Shipped>::unreadable({code, doing, directory}));
  };
  // Without the index libkmod finds nothing, which would read as "missing".
  if (const auto index = open_rooted(directory / kIndex, O_RDONLY); !index)
    return unreadable(index.error().code, "reading the module index of");
  const auto folder = open_rooted(directory, O_PATH | O_DIRECTORY);
  if (!folder) return unreadable(folder.error().code, "opening");
  if (has_linked_index(directory)) return unreadable(ELOOP, "reading the module index of");
  // No configuration: whether a module is shipped does not depend on modprobe.d.
  const std::array<const char*, 1> no_configuration{nullptr};
  const std::string path = "/proc/self/fd/" + std::to_string(folder->get());
  const Handle<kmod_ctx, kmod_unref> context{kmod_new(path.c_str(), no_configuration.data())};
  if (!context) return unreadable(ENOMEM, "opening the module index of");
  take_over_log(context.get());
  std::vector<Field<Shipped>> shipped;
  shipped.reserve(names.size());
  for (const std::string& name : names) shipped.push_back(look_up(context.get(), name));
  return shipped;
}

Field<std::string> module_signer(const Root& root, const std::string& release,
                                 const std::string& module) {
  const auto directory = root / ("/lib/modules/" + release);
  const std::array<const char*, 1> no_configuration{nullptr};
  const Handle<kmod_ctx, kmod_unref> context{kmod_new(directory.c_str(), no_configuration.data())};
  kmod_list* found = nullptr;
  if (!context || kmod_module_new_from_lookup(context.get(), module.c_str(), &found) < 0) return {};
  const Handle<kmod_list, kmod_module_unref_list> list{found};
  if (!list) return {};
  const Handle<kmod_module, kmod_module_unref> handle{kmod_module_get_module(list.get())};
  kmod_list* about = nullptr;
  if (const int code = kmod_module_get_info(handle.get(), &about); code < 0)
    return Field<std::string>::unreadable({-code, "reading the signature of module", module});
  const Handle<kmod_list, kmod_module_info_free_list> information{about};
  for (kmod_list* one = about; one != nullptr; one = kmod_list_next(about, one))
    if (std::string_view{kmod_module_info_get_key(one)} == "signer")
      return std::string{kmod_module_info_get_value(one)};
  return {};
}

}  // namespace pvrdma::probes
