// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/modprobe_config.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

// The text of all files, one after the other, and the first line of each.
struct JoinedFiles {
  struct Part {
    std::string file;
    unsigned first = 1;
  };
  std::string text;
  std::vector<Part> parts;

  [[nodiscard]] std::string place_of(unsigned line) const {
    const auto after = std::ranges::upper_bound(parts, line, {}, &Part::first);
    if (after == parts.begin()) return {};
    const Part& part = *(after - 1);
    return part.file + ":" + std::to_string(line - part.first + 1);
  }
};

Result<JoinedFiles> join_files(const Root& root, ModprobeOf which) {
  // libkmod's own list (kmod.h, kmod_new()), in its order: a file in an earlier folder replaces
  // later ones of the same name.
  std::vector<std::string> folders{"/etc/modprobe.d", "/run/modprobe.d",
                                   "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d",
                                   "/lib/modprobe.d"};
  if (which == ModprobeOf::NextBoot) std::erase(folders, "/run/modprobe.d");
  const auto files = merged_files(root, folders, ".conf");
  if (!files) return fail(files.error());
  JoinedFiles joined;
  unsigned lines = 1;
  for (const std::string& file : *files) {
    const auto status = status_of(root / file);
    if (!status && !means_absent(status.error())) return fail(status.error());
    if (!status || !S_ISREG(status->st_mode)) continue;
    const auto text = read_file(root / file);
    if (!text) return fail(text.error());
    // Two line ends, so that a backslash in the last line cannot join the next file.
    const std::string whole = *text + "\n\n";
    joined.parts.push_back({file, lines});
    joined.text += whole;
    lines += static_cast<unsigned>(std::ranges::count(whole, '\n'));
    if (joined.text.size() > kModprobeLimitBytes) return fail(EFBIG, "reading", "modprobe.d");
  }
  return joined;
}

// A file in memory with this text, at offset 0.
Result<Fd> in_memory(const std::string& text) {
  Fd file{::memfd_create("modprobe.conf", MFD_CLOEXEC)};
  if (!file) return fail(errno, "copying", "modprobe.d");
  if (auto written = write_all(file.get(), text, "modprobe.d"); !written)
    return fail(std::move(written.error()));
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return fail(errno, "copying", "modprobe.d");
  return file;
}

ModprobeConfig parse_elsewhere(const std::string& module_lookup, const std::string& text) {
  const auto file = in_memory(text);
  if (!file) return fail(file.error());
  const auto answer = run_module_lookup(module_lookup, {kLookUpConfig}, file->get());
  return answer ? parse_modprobe_lines(*answer) : fail(answer.error());
}

bool is_blank(char letter) { return letter == ' ' || letter == '\t'; }

// As in libkmod, a carriage return is part of the word: "blacklist x\r" blocks no module.
std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  const auto end = std::ranges::find_if(rest, is_blank);
  const std::string_view word = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(word.size());
  return word;
}

std::optional<ModprobeLine> parse_line(std::string_view line, unsigned number) {
  constexpr std::string_view kKeywords[] = {"blacklist", "install", "softdep", "options"};
  if (line.starts_with('#')) return std::nullopt;
  const std::string_view keyword = take_word(line);
  const std::string_view name = take_word(line);
  if (name.empty() || !contains(kKeywords, keyword)) return std::nullopt;
  const std::string_view rest = keyword == "blacklist" ? std::string_view{} : trimmed(line);
  return ModprobeLine{std::string{keyword}, with_underscores(name), std::string{rest}, number};
}

}  // namespace

ModprobeConfig read_modprobe_config(const std::string& module_lookup, const Root& root,
                                    ModprobeOf which) {
  const auto joined = join_files(root, which);
  if (!joined) return fail(joined.error());
  auto lines = root.is_this_system() ? ModprobeConfig{parse_modprobe(joined->text)}
                                     : parse_elsewhere(module_lookup, joined->text);
  if (lines)
    for (ModprobeLine& line : *lines) line.place = joined->place_of(line.line);
  return lines;
}

std::vector<ModprobeLine> parse_modprobe(std::string_view text) {
  std::vector<ModprobeLine> lines;
  unsigned next = 1;
  while (!text.empty()) {
    const unsigned number = next;
    std::string whole;
    bool goes_on = true;
    while (goes_on && !text.empty()) {
      std::string_view part = cut(text, '\n');
      ++next;
      goes_on = part.ends_with('\\');
      if (goes_on) part.remove_suffix(1);
      whole += part;
    }
    if (auto line = parse_line(whole, number)) lines.push_back(std::move(*line));
  }
  return lines;
}

std::string print_modprobe_lines(const std::vector<ModprobeLine>& lines) {
  std::string text;
  for (const ModprobeLine& line : lines)
    text +=
        std::to_string(line.line) + " " + line.keyword + " " + line.name + " " + line.rest + "\n";
  return text;
}

ModprobeConfig parse_modprobe_lines(std::string_view lines) {
  std::vector<ModprobeLine> parsed;
  while (!lines.empty()) {
    std::string_view rest = cut(lines, '\n');
    const auto number = number_from<unsigned>(cut(rest, ' '));
    const std::string_view keyword = cut(rest, ' ');
    const std::string_view name = cut(rest, ' ');
    if (!number || name.empty()) return fail(EBADMSG, "reading the answer of", "module-lookup");
    parsed.push_back({std::string{keyword}, std::string{name}, std::string{rest}, *number});
  }
  return parsed;
}

bool loads_nothing(std::string_view command) {
  // "/dev/null" cannot be run, so it loads nothing either.
  constexpr std::array<std::string_view, 11> kNothing{
      "true", "false", ":", "exit", "echo", "printf", "logger", "sleep", "nologin", "null", "test"};
  constexpr std::array<std::string_view, 3> kShells{"sh", "bash", "dash"};
  // The "&" of ">&2" does not end a command.
  std::string text{without_comment(command)};
  for (std::size_t at = text.find(">&"); at != std::string::npos; at = text.find(">&"))
    text[at + 1] = ' ';
  const auto commands = commands_in(text);
  return std::all_of(commands.begin(), commands.end(), [&](const std::string& one) {
    auto words = split_at_blanks(one);
    if (words.size() > 2 && contains(kShells, base_name(words[0])) && words[1] == "-c")
      words.erase(words.begin(), words.begin() + 2);
    return words.empty() || contains(kNothing, base_name(words.front()));
  });
}

}  // namespace pvrdma::probes
