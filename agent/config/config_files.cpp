// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the configuration files, in their order, and reads them. draft.cpp reads their content.
#include "agent/config/config_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <string_view>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/config/draft.hpp"
#include "agent/config/item.hpp"
#include "agent/config/toml_tree.hpp"

namespace pvrdma {

namespace {

tl::unexpected<Error> bad_file(const RootedPath& place, const std::string& what) {
  return fail(0, place.string() + ": " + what, "");
}

tl::unexpected<Error> cannot_be_read(const RootedPath& place, const Error& error) {
  if (error.code == EFBIG) return bad_file(place, kTooLarge);
  if (error.code == EPERM || error.code == ELOOP)
    if (const auto found = find_distrusted(place)) {
      const std::string which = found->path == place.string() ? "" : found->path + " ";
      return bad_file(place, which + found->why + ", so it is not read: " + found->remedy);
    }
  auto failed = fail(error.code, place.string() + ": cannot be read", "");
  if (error.code == EACCES)
    return fail(
        0, failed.value().message() + "; the agent is not root: it needs o+r, its folders o+x", "");
  return failed;
}

// A missing file is no risk, even if another user could write in its folder: /run of a container is
// often a plain tmpfs.
bool is_absent(const RootedPath& place, const Error& error) {
  return means_absent(error) ||
         (error.code == EPERM && !is_there(place, FinalLink::Shown).value_or(true));
}

bool masks(const Parent& parent, const struct stat& status) {
  return status.st_uid == 0 &&
         read_link(parent.folder.get(), parent.name).value_or("") == "/dev/null";
}

// In the order of precedence. The folder in /run is a separate one, made by an administrator:
// /run/pvrdma-agent belongs to the daemon's user, who must not configure the executor.
constexpr std::array<const char*, 3> kFolders = {"/etc/pvrdma-agent", "/run/pvrdma-agent-config",
                                                 "/usr/lib/pvrdma-agent"};
constexpr const char* kFile = "pvrdma-agent.toml";
constexpr const char* kDropIns = "pvrdma-agent.toml.d";
constexpr const char* kFetchedDropIn = "50-guestinfo.toml";

// The folder of units/read-guestinfo; systemd makes it before it starts that program.
constexpr const char* kFetchedFolder = "/run/pvrdma-agent-guestinfo";
// A file in that folder. Its first line is "config", with the TOML below it, or "none", or "error
// REASON".
constexpr const char* kAnswer = "answer";
constexpr std::size_t kFirstLineMax = 400;

// True for the place that stands for vSphere's configuration among the drop-ins.
bool is_guestinfo(const RootedPath& place) { return place.below() == kGuestinfo; }

// What to do about a place of which it cannot be told whether it has files.
enum class Unclear { Fails, IsSkipped };

// Where several folders have a file of the same name, that of the first folder counts. Hidden files
// are leftovers or unfinished copies of editors (".#NAME") and copy programs, so they are ignored.
Result<std::vector<RootedPath>> drop_ins(const Root& root, Unclear unclear) {
  std::map<std::string, RootedPath> by_name;
  for (const char* folder : kFolders) {
    // This place is added whether vSphere has a configuration or not.
    if (folder == kFolders.back()) by_name.emplace(kFetchedDropIn, root / kGuestinfo);
    const RootedPath place = root / folder / kDropIns;
    const auto names = root_folder(place);
    if (!names && unclear == Unclear::Fails) return fail(names.error());
    for (const std::string& name : names.value_or(std::vector<std::string>{}))
      if (name.ends_with(".toml") && !name.starts_with('.')) by_name.emplace(name, place / name);
  }
  std::vector<RootedPath> places;
  places.reserve(by_name.size());
  for (auto& [name, place] : by_name) places.push_back(std::move(place));
  return places;
}

Result<std::vector<RootedPath>> find_files(const Root& root, Unclear unclear = Unclear::Fails) {
  auto places = drop_ins(root, unclear);
  if (!places) return places;
  for (const char* folder : kFolders) {
    RootedPath place = root / folder / kFile;
    const auto there = root_has(place);
    if (!there && unclear == Unclear::Fails) return fail(there.error());
    if (!there.value_or(false)) continue;
    places->insert(places->begin(), std::move(place));
    break;
  }
  return places;
}

// Every user of the machine can write guestinfo, by the virtual CPU's backdoor. So guestinfo must
// not set which modules are loaded, who manages a link, or whether guestinfo is used.
Result<void> check_guestinfo(const toml_tree::Node& tree) {
  constexpr const char* kRule = "may only be set in a file of this machine";
  const std::string name{kGuestinfo};
  const Item top{tree, name, ""};
  for (const char* table : {"modules", "guestinfo"})
    if (const auto said = top.member(table)) return said->bad(kRule);
  const auto adapters = top.member("adapter");
  for (const Item& adapter : adapters ? adapters->items() : std::vector<Item>{})
    if (const auto said = adapter.member("manage")) return said->bad(kRule);
  return {};
}

// `guestinfo`: the text for its place; none: it is skipped.
Result<LoadedConfig> combine(const std::vector<RootedPath>& places,
                             const std::optional<std::string>& guestinfo = {}) {
  ConfigDraft draft;
  LoadedConfig loaded;
  for (const RootedPath& place : places) {
    const bool is_fetched = is_guestinfo(place);
    const std::string name = is_fetched ? kGuestinfo : place.string();
    const auto text = is_fetched ? Result<std::optional<std::string>>{guestinfo} : root_file(place);
    if (!text) return fail(text.error());
    if (!*text) continue;  // not set, or masked
    const auto tree = toml_tree::parse(**text, name);
    if (!tree) return fail(tree.error());
    if (auto right = is_fetched ? check_guestinfo(*tree) : Result<void>{}; !right)
      return fail(std::move(right.error()));
    if (auto added = draft.add(*tree, name); !added) return fail(std::move(added.error()));
    loaded.files.emplace_back(name);
  }
  auto config = std::move(draft).finish();
  if (!config) return fail(std::move(config.error()));
  loaded.config = std::move(*config);
  return loaded;
}

tl::unexpected<Error> no_guestinfo(const std::string& why) {
  constexpr std::size_t kLongest = 300;
  return fail(0, std::string{kGuestinfo} + ": " + printable(why, kLongest), "");
}

// The TOML that was fetched from vSphere; none: nothing is set for this VM, or nothing was fetched.
Result<std::optional<std::string>> read_guestinfo(const Root& root) {
  const RootedPath folder = root / kFetchedFolder;
  const RootedPath place = folder / kAnswer;
  const auto asked = root_has(folder);
  if (!asked) return no_guestinfo(asked.error().message());
  if (!*asked) return std::nullopt;
  const auto answered = root_has(place);
  if (!answered) return no_guestinfo(answered.error().message());
  // A missing answer does not mean that nothing is set: a setting from an earlier start may still
  // be in use.
  if (!*answered)
    return no_guestinfo(
        "cannot be read: the program that fetches it has not run, or was interrupted: systemctl "
        "start pvrdma-agent-guestinfo");
  const auto answer = root_file(place, 2 * kConfigLimitBytes + kFirstLineMax);
  if (!answer) return no_guestinfo(answer.error().message());
  std::string_view rest = *answer ? std::string_view{**answer} : std::string_view{};
  const std::string_view first = cut(rest, '\n');
  constexpr std::string_view kError = "error ";
  if (first.starts_with(kError)) return no_guestinfo(std::string{first.substr(kError.size())});
  if (first == "none") return std::nullopt;
  if (first != "config")
    return no_guestinfo("cannot be read: " + place.string() + " has another form");
  if (rest.size() > kConfigLimitBytes) return no_guestinfo(kTooLarge);
  return std::string{rest};
}

// Earlier versions used guestinfo unless a file forbade it. When the package replaces such a
// version and vSphere has a configuration for this VM, it leaves a note. The note is in /run, so it
// ends with the boot.
bool guestinfo_used_before_upgrade(const Root& root) {
  return root_has(root / kFetchedFolder / "used-before-upgrade").value_or(false);
}

bool says_observe(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    if (cut(line, '#').find("observe") != std::string_view::npos) return true;
  }
  return false;
}

Config safe_subset(const Root& root) {
  Config config;
  config.modules.reload = ReloadPolicy::Never;
  config.complete = false;
  for (const RootedPath& place :
       find_files(root, Unclear::IsSkipped).value_or(std::vector<RootedPath>{})) {
    const auto text = is_guestinfo(place) ? std::nullopt : root_file(place).value_or(std::nullopt);
    if (text && says_observe(*text)) config.every_adapter.manage = Manage::Observe;
  }
  return config;
}

}  // namespace

Result<bool> root_has(const RootedPath& place) {
  const auto parent = open_rooted_parent(place, kTrusted);
  if (!parent && is_absent(place, parent.error())) return false;
  if (!parent) return cannot_be_read(place, parent.error());
  struct stat status {};
  if (::fstatat(parent->folder.get(), parent->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0)
    return true;
  const Error error{errno, "", ""};
  if (means_absent(error)) return false;
  return cannot_be_read(place, error);
}

Result<std::vector<std::string>> root_folder(const RootedPath& place) {
  auto names = list_directory(place, kTrusted);
  if (names) return names;
  if (is_absent(place, names.error())) return std::vector<std::string>{};
  return cannot_be_read(place, names.error());
}

Result<std::optional<std::string>> root_file(const RootedPath& place, std::size_t limit_bytes) {
  const auto parent = open_rooted_parent(place, kTrusted);
  if (!parent) return cannot_be_read(place, parent.error());
  struct stat status {};
  if (::fstatat(parent->folder.get(), parent->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return cannot_be_read(place, {errno, "", ""});
  if (S_ISLNK(status.st_mode) && masks(*parent, status)) return std::nullopt;
  if (S_ISDIR(status.st_mode)) return bad_file(place, "is a directory, not a file");
  if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))
    return bad_file(place, "is not a regular file");
  // Checks the file again after opening it; the checks above only chose the error text.
  auto text = read_file(place, limit_bytes, kTrusted);
  if (!text) return cannot_be_read(place, text.error());
  return std::move(*text);
}

LoadedConfig load_config_or_safe(const Root& root) {
  auto loaded = load_config(root);
  if (loaded) return std::move(*loaded);
  return {safe_subset(root), {}, {}, loaded.error().message()};
}

Result<LoadedConfig> load_config(const Root& root) {
  const auto places = find_files(root);
  if (!places) return fail(places.error());
  auto loaded = combine(*places);
  // A file with the name of the drop-in replaces vSphere's configuration.
  if (!loaded || std::none_of(places->begin(), places->end(), is_guestinfo)) return loaded;
  const std::optional<bool> enabled = loaded->config.guestinfo.enabled;
  if (enabled.value_or(false)) {
    auto with_guestinfo = read_guestinfo(root).and_then(
        [&](const std::optional<std::string>& guestinfo) { return combine(*places, guestinfo); });
    if (with_guestinfo) return with_guestinfo;
    loaded->left_out = with_guestinfo.error().message();
  } else if (!enabled && guestinfo_used_before_upgrade(root)) {
    // An upgrade must not undo settings that the earlier version got from vSphere.
    loaded->left_out = std::string{kGuestinfo} +
                       ": the earlier version used it by default; now it is off by default, as "
                       "every user of this machine can write it: set guestinfo.enabled = true in a "
                       "file of this machine to use it, or false to ignore it";
  }
  loaded->config.complete = loaded->left_out.empty();
  return loaded;
}

}  // namespace pvrdma
