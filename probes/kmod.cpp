#include "probes/kmod.hpp"

#include <libkmod.h>
#include <syslog.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <string_view>

#include "agent/base/guarded.hpp"
#include "agent/base/handle.hpp"
#include "agent/base/log.hpp"
#include "agent/base/text.hpp"
#include "probes/module_lookup.hpp"
#include "probes/modules.hpp"
#include "probes/rights.hpp"

namespace pvrdma::probes {

namespace {

using Context = Handle<kmod_ctx, kmod_unref>;
using Found = Handle<kmod_module, kmod_module_unref>;

void log_line(void* /*data*/, int /*priority*/, const char* /*file*/, int /*line*/,
              const char* function, const char* format, va_list arguments) {
  std::array<char, 1024> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  std::string_view rest = text.data();
  static_cast<void>(guarded([&] { log::debug("libkmod: {}: {}", function, cut(rest, '\n')); }));
}

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

// Null: the index has no module of that name.
Result<Found> look_up(kmod_ctx* context, const std::string& name) {
  kmod_list* raw = nullptr;
  const int code = kmod_module_new_from_lookup(context, name.c_str(), &raw);
  const Handle<kmod_list, kmod_module_unref_list> list{raw};
  if (code < 0 && code != -ENOENT) return fail(-code, "looking up module", name);
  return Found{list ? kmod_module_get_module(list.get()) : nullptr};
}

Field<Shipped> shipped_of(const Result<Found>& module) {
  if (!module) return Field<Shipped>::unreadable(module.error());
  if (!*module) return Shipped::Missing;
  return kmod_module_get_path(module->get()) != nullptr ? Shipped::Loadable : Shipped::BuiltIn;
}

std::vector<Field<Shipped>> shipped_by(const Result<Context>& indexes,
                                       const std::vector<std::string>& names) {
  if (!indexes) return all_unreadable(names, indexes.error());
  std::vector<Field<Shipped>> shipped;
  shipped.reserve(names.size());
  for (const std::string& name : names)
    shipped.push_back(shipped_of(look_up(indexes->get(), name)));
  return shipped;
}

std::string lines_of(const std::string& keyword, kmod_config_iter* made) {
  const Handle<kmod_config_iter, kmod_config_iter_free_iter> lines{made};
  std::string text;
  while (lines && kmod_config_iter_next(lines.get())) {
    text += keyword + " " + kmod_config_iter_get_key(lines.get());
    if (const char* rest = kmod_config_iter_get_value(lines.get())) text += std::string{" "} + rest;
    text += "\n";
  }
  return text;
}

}  // namespace

void take_over_log(kmod_ctx* context) {
  kmod_set_log_fn(context, log_line, nullptr);
  kmod_set_log_priority(context, log::wants(log::Level::Debug) ? LOG_DEBUG : LOG_EMERG);
}

std::vector<Field<Shipped>> find_shipped(const Root& root, const std::string& release,
                                         const std::vector<std::string>& names) {
  const auto folder = open_modules_of(root, release);
  if (!folder) return all_unreadable(names, folder.error());
  return shipped_by(open_indexes(folder->get()), names);
}

std::vector<Field<Shipped>> find_shipped_without_rights(int folder,
                                                        const std::vector<std::string>& names) {
  return shipped_by(map_indexes_and_give_up_rights(folder), names);
}

Result<std::string> module_signer(int folder, const std::string& name) {
  const auto context = open_indexes(folder);
  if (!context) return fail(context.error());
  const auto module = look_up(context->get(), name);
  if (!module || !*module) return {};
  kmod_list* about = nullptr;
  if (const int code = kmod_module_get_info(module->get(), &about); code < 0)
    return fail(-code, "reading the signature of module", name);
  const Handle<kmod_list, kmod_module_info_free_list> information{about};
  for (kmod_list* one = about; one != nullptr; one = kmod_list_next(about, one))
    if (std::string_view{kmod_module_info_get_key(one)} == "signer")
      return std::string{kmod_module_info_get_value(one)} + "\n";
  return {};
}

Result<std::string> modprobe_lines(int file) {
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  const std::array<const char*, 2> paths{path.c_str(), nullptr};
  // It reads them at once, and looks up no module.
  const Context context{kmod_new("/lib/modules", paths.data())};
  if (!context) return fail(ENOMEM, "reading", "modprobe.d");
  take_over_log(context.get());
  return lines_of("blacklist", kmod_config_get_blacklists(context.get())) +
         lines_of("install", kmod_config_get_install_commands(context.get())) +
         lines_of("softdep", kmod_config_get_softdeps(context.get()));
}

}  // namespace pvrdma::probes
