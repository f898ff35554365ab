#include "probes/modprobe_config.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <map>
#include <string>
#include <string_view>

namespace pvrdma::probes {

namespace {

// libkmod's own list (kmod.h, kmod_new()), in its order: a file of an earlier folder replaces one
// of its name.
constexpr std::array<std::string_view, 5> kFolders{"/etc/modprobe.d", "/run/modprobe.d",
                                                   "/usr/local/lib/modprobe.d",
                                                   "/usr/lib/modprobe.d", "/lib/modprobe.d"};

Result<std::map<std::string, RootedPath>> find_files(const Root& root, ModprobeOf which) {
  std::map<std::string, RootedPath> by_name;
  for (const std::string_view folder : kFolders) {
    if (which == ModprobeOf::NextBoot && folder.starts_with("/run/")) continue;
    const auto names = list_directory(root / folder);
    if (!names && !means_absent(names.error())) return fail(names.error());
    for (const std::string& name : names.value_or(std::vector<std::string>{}))
      if (!name.starts_with('.') && name.ends_with(".conf"))
        by_name.emplace(name, root / folder / name);
  }
  return by_name;
}

Result<std::string> whole_text(const Root& root, ModprobeOf which) {
  const auto files = find_files(root, which);
  if (!files) return fail(files.error());
  std::string whole;
  for (const auto& [name, place] : *files) {
    const auto status = status_of(place);
    if (!status && !means_absent(status.error())) return fail(status.error());
    // A link to /dev/null masks those of its name.
    if (!status || !S_ISREG(status->st_mode)) continue;
    const auto text = read_file(place);
    if (!text) return fail(text.error());
    whole += *text + "\n\n";  // also where the last line ends in a backslash
  }
  return whole;
}

}  // namespace

Result<Handle<kmod_ctx, kmod_unref>> open_modprobe_config(const Root& root, ModprobeOf which) {
  const auto text = whole_text(root, which);
  if (!text) return fail(text.error());
  const Fd file{::memfd_create("modprobe.conf", MFD_CLOEXEC)};
  if (!file) return fail(errno, "copying", "modprobe.d");
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  if (auto written = write_all(file.get(), *text, path); !written)
    return fail(std::move(written.error()));
  const std::array<const char*, 2> paths{path.c_str(), nullptr};
  // It reads them at once, and looks up no module.
  Handle<kmod_ctx, kmod_unref> context{kmod_new((root / "/lib/modules").c_str(), paths.data())};
  if (!context) return fail(ENOMEM, "reading", "modprobe.d");
  return context;
}

}  // namespace pvrdma::probes
