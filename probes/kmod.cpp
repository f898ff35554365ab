// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/kmod.hpp"

#include <fcntl.h>
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
#include "agent/base/program.hpp"
#include "agent/base/text.hpp"
#include "probes/module_lookup.hpp"
#include "probes/modules.hpp"

namespace pvrdma::probes {

namespace {

using Context = Handle<kmod_ctx, kmod_unref>;
using Found = Handle<kmod_module, kmod_module_unref>;

constexpr std::size_t kDependencyLimitBytes = 16U << 20U;

void log_line(void* /*data*/, int /*priority*/, const char* /*file*/, int /*line*/,
              const char* function, const char* format, va_list arguments) {
  std::array<char, 1024> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  std::string_view rest = text.data();
  static_cast<void>(guarded([&] { log::debug("libkmod: {}: {}", function, cut(rest, '\n')); }));
}

// Reads no configuration, as modprobe.d does not change whether a module is shipped.
Result<Context> open_indexes(int folder) {
  const std::array<const char*, 1> no_configuration{nullptr};
  const std::string path = "/proc/self/fd/" + std::to_string(folder);
  Context context{kmod_new(path.c_str(), no_configuration.data())};
  if (!context) return fail(ENOMEM, "opening", "the module index");
  route_log(context.get());
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

// modules.dep(5), the text beside the index. libkmod lists the dependencies of a module only if it
// finds their files, which a process without rights cannot. Empty: there is no such file.
Result<Fd> open_dependencies(int folder) {
  Fd file{::openat(folder, "modules.dep", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
  if (!file && errno != ENOENT) return fail(errno, "opening", "modules.dep");
  return file;
}

Result<std::string> text_of(const Result<Fd>& dependencies) {
  if (!dependencies) return fail(dependencies.error());
  if (!*dependencies) return std::string{};
  return read_file(*dependencies, "modules.dep", kDependencyLimitBytes);
}

// Each line is "PATH: PATH...": the module's path, then all modules that it needs.
std::vector<std::string> needs_in(std::string_view dependencies, const std::string& name) {
  std::vector<std::string> names;
  while (!dependencies.empty()) {
    std::string_view rest = cut(dependencies, '\n');
    if (module_of(cut(rest, ':')) != with_underscores(name)) continue;
    for (const std::string_view path : split_at_blanks(rest)) names.push_back(module_of(path));
    break;
  }
  return names;
}

IndexEntry entry_of(const Result<Found>& module, std::string_view dependencies,
                    const std::string& name) {
  if (!module) return {Field<Shipped>::unreadable(module.error())};
  if (!*module) return {Shipped::Missing};
  if (kmod_module_get_path(module->get()) == nullptr) return {Shipped::BuiltIn};
  return {Shipped::Loadable, needs_in(dependencies, name)};
}

std::vector<IndexEntry> entries_in(const Result<Context>& indexes, const Result<Fd>& dependencies,
                                   const std::vector<std::string>& names) {
  if (!indexes) return all_unreadable(names, indexes.error());
  const auto text = text_of(dependencies);
  if (!text) return all_unreadable(names, text.error());
  std::vector<IndexEntry> entries;
  entries.reserve(names.size());
  for (const std::string& name : names)
    entries.push_back(entry_of(look_up(indexes->get(), name), *text, name));
  return entries;
}

}  // namespace

void route_log(kmod_ctx* context) {
  kmod_set_log_fn(context, log_line, nullptr);
  kmod_set_log_priority(context, log::wants(log::Level::Debug) ? LOG_DEBUG : LOG_EMERG);
}

std::vector<IndexEntry> find_shipped(const Root& root, const std::string& release,
                                     const std::vector<std::string>& names) {
  const auto folder = open_modules_of(root, release);
  if (!folder) return all_unreadable(names, folder.error());
  return entries_in(open_indexes(folder->get()), open_dependencies(folder->get()), names);
}

std::vector<IndexEntry> find_shipped_without_rights(int folder,
                                                    const std::vector<std::string>& names) {
  const auto dependencies = open_dependencies(folder);
  return entries_in(map_indexes_and_give_up_rights(folder), dependencies, names);
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
    if (std::string_view{kmod_module_info_get_key(one)} == "signer") {
      const std::string signer = kmod_module_info_get_value(one);
      // A libkmod without OpenSSL does not read the names in signatures of today's kernels.
      return (signer.empty() ? "a key whose name is not known" : signer) + "\n";
    }
  return {};
}

}  // namespace pvrdma::probes
