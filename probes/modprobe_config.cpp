#include "probes/modprobe_config.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "agent/base/handle.hpp"
#include "agent/base/text.hpp"
#include "probes/module_lookup.hpp"
#include "probes/modules.hpp"
#include "probes/recipe/command.hpp"
#include "probes/settings.hpp"

namespace pvrdma::probes {

namespace {

Result<std::string> whole_text(const Root& root, ModprobeOf which) {
  // libkmod's own list (kmod.h, kmod_new()), in its order: a file of an earlier folder replaces one
  // of its name.
  std::vector<std::string> folders{"/etc/modprobe.d", "/run/modprobe.d",
                                   "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d",
                                   "/lib/modprobe.d"};
  if (which == ModprobeOf::NextBoot) std::erase(folders, "/run/modprobe.d");
  const auto files = merged_files(root, folders, ".conf");
  if (!files) return fail(files.error());
  std::string whole;
  for (const std::string& file : *files) {
    const auto status = status_of(root / file);
    if (!status && !means_absent(status.error())) return fail(status.error());
    if (!status || !S_ISREG(status->st_mode)) continue;
    const auto text = read_file(root / file);
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

bool is_among(const std::vector<std::string>& modules, std::string_view name) {
  return contains(modules, module_name(name));
}

// libkmod counts the running kernel's command line as modprobe.d, whatever folders it is given.
bool is_of_this_command_line(const std::string& name) {
  const auto line = read_file("/proc/cmdline");
  const auto blocks = blocks_of_command_line(line.value_or(std::string{}));
  return std::any_of(blocks.begin(), blocks.end(),
                     [&](const ModuleBlock& block) { return block.module == module_name(name); });
}

std::optional<ModuleBlock> block_of(const ModprobeLine& line) {
  if (line.keyword == "blacklist" && !is_of_this_command_line(line.name))
    return ModuleBlock{module_name(line.name), "\"blacklist " + line.name + "\" in modprobe.d"};
  if (line.keyword == "install" && loads_nothing(line.rest))
    return ModuleBlock{module_name(line.name),
                       "\"install " + line.name + " " + line.rest + "\" in modprobe.d"};
  return std::nullopt;
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

std::vector<ModuleBlock> blocks_of_command_line(std::string_view command_line) {
  std::vector<ModuleBlock> blocks;
  while (!command_line.empty()) {
    std::string_view word = cut(command_line, ' ');
    while (!word.empty() && word.back() == '\n') word.remove_suffix(1);
    // Each module that it names has a copy.
    const std::string how = "\"" + printable(word, 200) + "\" on the kernel's command line";
    for (const std::string_view key : {"modprobe.blacklist=", "module_blacklist="}) {
      if (!word.starts_with(key)) continue;
      std::string_view names = word.substr(key.size());
      while (!names.empty()) blocks.push_back({module_name(cut(names, ',')), how});
    }
  }
  return blocks;
}

Field<std::vector<ModuleBlock>> find_module_blocks(const ModprobeConfig& config, const Root& root,
                                                   const std::vector<std::string>& modules) {
  if (!config) return Field<std::vector<ModuleBlock>>::unreadable(config.error());
  std::vector<ModuleBlock> blocks;
  for (const ModprobeLine& line : *config)
    if (auto block = is_among(modules, line.name) ? block_of(line) : std::nullopt)
      blocks.push_back(std::move(*block));
  const auto command_line = read_file(root / "/proc/cmdline");
  if (!command_line && !means_absent(command_line.error()))
    return Field<std::vector<ModuleBlock>>::unreadable(command_line.error());
  for (ModuleBlock& block : blocks_of_command_line(command_line.value_or(std::string{})))
    if (is_among(modules, block.module)) blocks.push_back(std::move(block));
  return blocks;
}

}  // namespace pvrdma::probes
