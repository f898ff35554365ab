// Which files count, in which order, and how they are read. What they say is draft.cpp's.
#include "agent/config/config_files.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/config/draft.hpp"
#include "agent/config/guestinfo.hpp"
#include "agent/config/item.hpp"
#include "agent/config/root_file.hpp"
#include "agent/config/toml_tree.hpp"

namespace pvrdma {

namespace {

namespace fs = std::filesystem;

// The first counts before the second, and so on. Of /run it is a folder of its own, which an
// administrator makes: /run/pvrdma-agent is the daemon's user's, who is not to tell the executor
// anything.
constexpr std::array<const char*, 3> kFolders = {"/etc/pvrdma-agent", "/run/pvrdma-agent-config",
                                                 "/usr/lib/pvrdma-agent"};
constexpr const char* kFile = "pvrdma-agent.toml";
constexpr const char* kDropIns = "pvrdma-agent.toml.d";
constexpr const char* kFetchedDropIn = "50-guestinfo.toml";

// Stands among the drop-ins of /run for what vSphere has, whether it has anything or not.
RootedPath guestinfo_place(const Root& root) { return root / kGuestinfo; }
bool is_guestinfo(const RootedPath& place) { return place.below() == kGuestinfo; }

// Of a name in several folders the file of the first counts.
Result<std::vector<RootedPath>> drop_ins(const Root& root) {
  std::map<std::string, RootedPath> by_name;
  for (const char* folder : kFolders) {
    if (folder == kFolders.back()) by_name.emplace(kFetchedDropIn, guestinfo_place(root));
    const RootedPath place = root / folder / kDropIns;
    const auto names = root_folder(place);
    if (!names) return fail(names.error());
    for (const std::string& name : *names)
      if (fs::path{name}.extension() == ".toml") by_name.emplace(name, place / name);
  }
  std::vector<RootedPath> places;
  places.reserve(by_name.size());
  for (auto& [name, place] : by_name) places.push_back(std::move(place));
  return places;
}

Result<std::vector<RootedPath>> find_files(const Root& root) {
  auto places = drop_ins(root);
  if (!places) return places;
  for (const char* folder : kFolders) {
    RootedPath place = root / folder / kFile;
    const auto there = root_has(place);
    if (!there) return fail(there.error());
    if (!*there) continue;
    places->insert(places->begin(), std::move(place));
    break;
  }
  return places;
}

// Any user of the machine can write guestinfo (it is open to whoever may use the virtual CPU's
// backdoor): what is loaded, whose a link is and whether guestinfo counts is not for them to say.
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

Result<void> add_guestinfo(const std::string& text, ConfigDraft& draft) {
  const auto tree = toml_tree::parse(text, kGuestinfo);
  if (!tree) return fail(tree.error());
  if (auto right = check_guestinfo(*tree); !right) return right;
  return draft.add(*tree, kGuestinfo);
}

// True: it was added. False: it is masked.
Result<bool> add_file(const RootedPath& place, ConfigDraft& draft) {
  const auto text = root_file(place);
  if (!text) return fail(text.error());
  if (!*text) return false;
  const auto tree = toml_tree::parse(**text, place);
  if (!tree) return fail(tree.error());
  if (auto added = draft.add(*tree, place); !added) return fail(std::move(added.error()));
  return true;
}

// `guestinfo`: what stands for it among the places; none: nothing.
Result<LoadedConfig> combine(const std::vector<RootedPath>& places,
                             const std::optional<std::string>& guestinfo = {}) {
  ConfigDraft draft;
  LoadedConfig loaded;
  for (const RootedPath& place : places) {
    if (!is_guestinfo(place)) {
      const auto added = add_file(place, draft);
      if (!added) return fail(added.error());
      if (*added) loaded.files.push_back(place);
    } else if (guestinfo) {
      if (auto added = add_guestinfo(*guestinfo, draft); !added)
        return fail(std::move(added.error()));
      loaded.files.emplace_back(kGuestinfo);
    }
  }
  auto config = std::move(draft).finish();
  if (!config) return fail(std::move(config.error()));
  loaded.config = std::move(*config);
  return loaded;
}

// Not to take away at an upgrade what the version before had been given.
std::string upgrade_notice() {
  return std::string{kGuestinfo} +
         ": was used unasked by the version before, and is off by default now, as every user of "
         "this machine can write it: set guestinfo.enabled = true in a file of this machine to go "
         "on using it, or false to do without";
}

}  // namespace

Result<LoadedConfig> load_config(const Root& root) {
  const auto places = find_files(root);
  if (!places) return fail(places.error());
  auto loaded = combine(*places);
  // A file of its name replaces what vSphere has.
  if (!loaded || std::none_of(places->begin(), places->end(), is_guestinfo)) return loaded;
  const std::optional<bool> enabled = loaded->config.guestinfo.enabled;
  if (enabled.value_or(false)) {
    const Guestinfo guestinfo = read_guestinfo(root);
    loaded->left_out = guestinfo.error;
    if (guestinfo.text) {
      auto with_guestinfo = combine(*places, guestinfo.text);
      if (with_guestinfo) return with_guestinfo;
      loaded->left_out = with_guestinfo.error().message();
    }
  } else if (!enabled && guestinfo_used_before_upgrade(root)) {
    loaded->left_out = upgrade_notice();
  }
  loaded->config.complete = loaded->left_out.empty();
  return loaded;
}

}  // namespace pvrdma
