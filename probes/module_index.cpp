#include "probes/module_index.hpp"

#include <libkmod.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "agent/base/handle.hpp"
#include "probes/kmod_log.hpp"
#include "probes/module_lookup.hpp"
#include "probes/modules.hpp"
#include "probes/rights.hpp"

namespace pvrdma::probes {

namespace {

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

using Context = Handle<kmod_ctx, kmod_unref>;

// No configuration: whether a module is shipped does not depend on modprobe.d.
Result<Context> open_indexes(int folder) {
  const std::array<const char*, 1> no_configuration{nullptr};
  const std::string path = "/proc/self/fd/" + std::to_string(folder);
  Context context{kmod_new(path.c_str(), no_configuration.data())};
  if (!context) return fail(ENOMEM, "opening", "the module index");
  take_over_log(context.get());
  return context;
}

Result<Context> map_indexes_and_give_up_rights(int folder) {
  auto indexes = open_indexes(folder);
  if (!indexes) return indexes;
  if (const int code = kmod_load_resources(indexes->get()); code < 0)
    return fail(-code, "mapping", "the module index");
  if (auto given_up = give_up_rights(); !given_up) return fail(given_up.error());
  return indexes;
}

std::vector<Field<Shipped>> look_up(const Result<Context>& indexes,
                                    const std::vector<std::string>& names) {
  if (!indexes) return all_unreadable(names, indexes.error());
  std::vector<Field<Shipped>> shipped;
  shipped.reserve(names.size());
  for (const std::string& name : names) shipped.push_back(look_up(indexes->get(), name));
  return shipped;
}

}  // namespace

std::vector<Field<Shipped>> find_shipped(const Root& root, const std::string& release,
                                         const std::vector<std::string>& names) {
  const auto folder = open_modules_of(root, release);
  if (!folder) return all_unreadable(names, folder.error());
  return look_up(open_indexes(folder->get()), names);
}

std::vector<Field<Shipped>> find_shipped_without_rights(int folder,
                                                        const std::vector<std::string>& names) {
  return look_up(map_indexes_and_give_up_rights(folder), names);
}

Result<std::string> module_signer(int folder, const std::string& name) {
  const auto context = open_indexes(folder);
  if (!context) return fail(context.error());
  kmod_list* found = nullptr;
  if (kmod_module_new_from_lookup(context->get(), name.c_str(), &found) < 0) return {};
  const Handle<kmod_list, kmod_module_unref_list> list{found};
  if (!list) return {};
  const Handle<kmod_module, kmod_module_unref> module{kmod_module_get_module(list.get())};
  kmod_list* about = nullptr;
  if (const int code = kmod_module_get_info(module.get(), &about); code < 0)
    return fail(-code, "reading the signature of module", name);
  const Handle<kmod_list, kmod_module_info_free_list> information{about};
  for (kmod_list* one = about; one != nullptr; one = kmod_list_next(about, one))
    if (std::string_view{kmod_module_info_get_key(one)} == "signer")
      return std::string{kmod_module_info_get_value(one)} + "\n";
  return {};
}

}  // namespace pvrdma::probes
