#include "probes/modprobe_config.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <string>
#include <string_view>

#include "agent/base/handle.hpp"
#include "agent/base/text.hpp"
#include "probes/module_lookup.hpp"

namespace pvrdma::probes {

namespace {

// libkmod's own list (kmod.h, kmod_new()), in its order: a file of an earlier folder replaces one
// of its name.
constexpr std::array<std::string_view, 5> kConfigFolders{"/etc/modprobe.d", "/run/modprobe.d",
                                                         "/usr/local/lib/modprobe.d",
                                                         "/usr/lib/modprobe.d", "/lib/modprobe.d"};

Result<std::map<std::string, RootedPath>> find_files(const Root& root, ModprobeOf which) {
  std::map<std::string, RootedPath> by_name;
  for (const std::string_view folder : kConfigFolders) {
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

// A file of its own in memory, from its start.
Result<Fd> in_memory(const std::string& text) {
  Fd file{::memfd_create("modprobe.conf", MFD_CLOEXEC)};
  if (!file) return fail(errno, "copying", "modprobe.d");
  if (auto written = write_all(file.get(), text, "modprobe.d"); !written)
    return fail(std::move(written.error()));
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return fail(errno, "copying", "modprobe.d");
  return file;
}

}  // namespace

ModprobeConfig read_modprobe_config(const std::string& module_lookup, const Root& root,
                                    ModprobeOf which) {
  const auto text = whole_text(root, which);
  if (!text) return fail(text.error());
  const auto file = in_memory(*text);
  if (!file) return fail(file.error());
  const auto answer = run_module_lookup(module_lookup, {kLookUpConfig}, file->get());
  if (!answer) return fail(answer.error());
  return parse_modprobe_lines(*answer);
}

ModprobeConfig parse_modprobe_lines(std::string_view lines) {
  std::vector<ModprobeLine> parsed;
  while (!lines.empty()) {
    std::string_view rest = cut(lines, '\n');
    const std::string_view keyword = cut(rest, ' ');
    const std::string_view name = cut(rest, ' ');
    if (name.empty()) return fail(EBADMSG, "reading the answer of", "module-lookup");
    parsed.push_back({std::string{keyword}, std::string{name}, std::string{rest}});
  }
  return parsed;
}

}  // namespace pvrdma::probes
