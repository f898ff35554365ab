// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/survey/unit_files.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "agent/base/text.hpp"
#include "probes/settings.hpp"
#include "probes/systemd.hpp"

namespace pvrdma::probes {

namespace {

constexpr std::array kUnitPath{"/etc/systemd/system", "/usr/local/lib/systemd/system",
                               "/usr/lib/systemd/system", "/lib/systemd/system"};
// Of systemd 246 and later; before that the kernel's smaller default (64 KiB up to Linux 5.15).
constexpr std::uint64_t kOwnDefault = std::uint64_t{8} << 20U;

bool has(const Root& root, const std::string& path) {
  return is_there(root / path, FinalLink::Shown).value_or(false);
}

// "getty@tty1.service" -> "getty@.service"; empty: the unit is not an instance.
std::string template_of(const std::string& unit) {
  const auto at = unit.find('@');
  const auto dot = unit.rfind('.');
  if (at == std::string::npos || dot == std::string::npos || at + 1 >= dot) return {};
  return unit.substr(0, at + 1) + unit.substr(dot);
}

// The path of a unit's own file; empty: there is none.
std::string fragment_of(const Root& root, const std::string& unit) {
  for (const std::string& name : {unit, template_of(unit)})
    for (const char* const folder : kUnitPath)
      if (std::string path = std::string{folder} + "/" + name; !name.empty() && has(root, path))
        return path;
  return {};
}

// Whether a folder such as "multi-user.target.wants" has a link to the unit.
Result<bool> is_wanted(const Root& root, const std::string& unit) {
  for (const char* const folder : kUnitPath) {
    const auto names = list_directory(root / folder);
    if (!names && !means_absent(names.error())) return fail(names.error());
    for (const std::string& name : names.value_or(std::vector<std::string>{})) {
      if (!name.ends_with(".wants") && !name.ends_with(".requires")) continue;
      const std::string link = std::string{folder} + "/" + name + "/" + unit;
      if (has(root, link) && !is_hidden(root, link)) return true;
    }
  }
  return false;
}

// The folders of a unit's drop-ins, most specific last: "service.d", "slurm-.service.d",
// "slurm-d.service.d".
std::vector<std::string> drop_in_names(const std::string& unit) {
  const auto dot = unit.rfind('.');
  const std::string type = unit.substr(dot + 1);
  std::vector<std::string> names{type + ".d"};
  for (std::size_t dash = unit.find('-'); dash < dot; dash = unit.find('-', dash + 1))
    if (dash + 1 < dot) names.push_back(unit.substr(0, dash + 1) + "." + type + ".d");
  if (const std::string pattern = template_of(unit); !pattern.empty())
    names.push_back(pattern + ".d");
  names.push_back(unit + ".d");
  return names;
}

// Of equal names the file in the most specific folder counts, then that in the first place. All are
// read in the order of their names, in whatever folder they are.
Result<std::vector<std::string>> drop_ins_of(const Root& root, const std::string& unit) {
  auto names = drop_in_names(unit);
  std::reverse(names.begin(), names.end());
  std::vector<std::string> folders;
  for (const std::string& name : names)
    for (const char* const place : kUnitPath) folders.push_back(std::string{place} + "/" + name);
  return merged_files(root, folders, ".conf");
}

// The hard limit of "8M:infinity"; without a colon the soft one is the hard one, too.
std::optional<MemlockLimit> parse_hard(std::string_view text) {
  const auto soft = parse_memlock(cut(text, ':'));
  return soft && !text.empty() ? parse_memlock(text) : soft;
}

using ParseLimit = std::optional<MemlockLimit>(std::string_view);

// The last setting of `key`; an empty value resets earlier ones.
Field<MemlockLimit> limit_in(const Root& root, const std::vector<std::string>& files,
                             std::string_view section, std::string_view key,
                             ParseLimit* parse = parse_memlock) {
  Field<MemlockLimit> limit;
  for (const std::string& file : files) {
    const auto text = read_file(root / file);
    if (!text && means_absent(text.error())) continue;
    if (!text) return Field<MemlockLimit>::unreadable(text.error());
    for (const Setting& one : parse_settings(*text)) {
      if (one.section != section || one.key != key) continue;
      if (one.value.empty()) limit = {};
      auto parsed = parse(one.value);
      if (!parsed) continue;  // systemd ignores it, too
      parsed->place = file + ":" + std::to_string(one.line);
      limit = std::move(*parsed);
    }
  }
  return limit;
}

// The limit of a service that sets none itself.
Field<MemlockLimit> default_memlock(const Root& root, ParseLimit* parse = parse_memlock) {
  std::vector<std::string> files;
  for (const std::string folder : {"/etc/systemd/", "/usr/local/lib/systemd/", "/usr/lib/systemd/"})
    if (files.empty() && has(root, folder + "system.conf")) files.push_back(folder + "system.conf");
  const auto drop_ins =
      merged_files(root,
                   {"/etc/systemd/system.conf.d", "/usr/local/lib/systemd/system.conf.d",
                    "/usr/lib/systemd/system.conf.d", "/lib/systemd/system.conf.d"},
                   ".conf");
  if (!drop_ins) return Field<MemlockLimit>::unreadable(drop_ins.error());
  files.insert(files.end(), drop_ins->begin(), drop_ins->end());
  auto limit = limit_in(root, files, "Manager", "DefaultLimitMEMLOCK", parse);
  return limit.is_absent() ? Field<MemlockLimit>{MemlockLimit{kOwnDefault, "systemd's default"}}
                           : limit;
}

Field<MemlockLimit> memlock_of(const Root& root, const std::string& unit) {
  const std::string fragment = fragment_of(root, unit);
  if (fragment.empty()) return {};
  // A link gives a unit another name; drop-ins of both names count.
  const auto path = resolve_rooted(root / fragment);
  if (!path) return Field<MemlockLimit>::unreadable(path.error());
  std::vector<std::string> files{path->inside()};
  const std::string other = path->below().filename();
  for (const std::string& name : {other, unit}) {
    if (name == unit && name == other && files.size() > 1) continue;
    const auto drop_ins = drop_ins_of(root, name);
    if (!drop_ins) return Field<MemlockLimit>::unreadable(drop_ins.error());
    files.insert(files.end(), drop_ins->begin(), drop_ins->end());
  }
  auto limit = limit_in(root, files, "Service", "LimitMEMLOCK");
  return limit.is_absent() ? default_memlock(root) : limit;
}

}  // namespace

std::optional<MemlockLimit> parse_memlock(std::string_view text) {
  std::string_view soft = cut(text, ':');
  if (soft == "infinity") return MemlockLimit{};
  constexpr std::string_view kUnits = "BKMGTPE";
  unsigned shift = 0;
  if (!soft.empty() && !is_digit(soft.back())) {
    const auto unit = kUnits.find(soft.back());
    if (unit == std::string_view::npos) return std::nullopt;
    shift = static_cast<unsigned>(unit) * 10;
    soft.remove_suffix(1);
  }
  const auto number = number_from<std::uint64_t>(soft);
  if (!number || *number > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return MemlockLimit{*number << shift};
}

Field<UnitFile> unit_file(const Root& root, const std::string& unit) {
  UnitFile found;
  found.path = fragment_of(root, unit);
  if (found.path.empty()) return {};
  found.masked = is_hidden(root, found.path);
  const auto wanted = is_wanted(root, unit);
  if (!wanted) return Field<UnitFile>::unreadable(wanted.error());
  found.enabled = *wanted && !found.masked;
  return found;
}

UnitMemlock unit_memlock_on_disk(const Root& root, const std::string& unit) {
  UnitMemlock result{service_name(unit), {}};
  result.limit = memlock_of(root, result.unit);
  return result;
}

LoginLimits default_limits(const Root& root) {
  return {default_memlock(root), default_memlock(root, parse_hard)};
}

Field<MemlockLimit> login_memlock_on_disk(const Root& root) {
  auto limit = login_memlock(root);
  return limit.is_absent() ? limits_without_lines(root).soft : limit;
}

}  // namespace pvrdma::probes
