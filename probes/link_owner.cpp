// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/link_owner.hpp"

#include <fnmatch.h>
#include <net/if.h>
#include <regex.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <utility>

#include "agent/base/text.hpp"

namespace pvrdma::probes {

namespace {

constexpr const char* kNetworkd = "systemd-networkd.service";
// ifupdown treats a hyphen as an underscore.
constexpr std::array kPortOptions{"bond-slaves", "bond_slaves", "slaves", "bridge_ports",
                                  "bridge-ports"};
constexpr std::array kStarts{"auto", "allow-auto", "allow-hotplug"};
constexpr std::size_t kInterfacesFiles = 64;  // files may name each other as sources

// The rank of a manager's answer: 3, it has the link; 2, its answer is unreadable; 1, it has not
// decided. Managers are asked in turn until one has the link.
constexpr int kHasIt = 3;
int rank(const Field<LinkOwner>& owner) {
  if (owner.is_known()) return owner.get()->decided ? kHasIt : 1;
  return owner.is_unreadable() ? 2 : 0;
}

// The value of a line "NAME=…"; empty where there is none.
std::string value_of(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    if (cut(line, '=') == name) return std::string{line};
  }
  return {};
}

// Absent: networkd neither runs nor is enabled, or does not manage the link.
Field<LinkOwner> networkd_owner(const Root& root, int index) {
  const LinkOwner undecided{LinkManager::Networkd, false, {}};
  if (!service_runs(root, kNetworkd))
    return service_is_enabled(root, kNetworkd) ? Field<LinkOwner>{undecided} : Field<LinkOwner>{};
  const auto state = read_attribute(root / "/run/systemd/netif/links" / std::to_string(index));
  if (state) return parse_networkd_link(*state);
  return means_absent(state.error()) ? Field<LinkOwner>{undecided}
                                     : Field<LinkOwner>::unreadable(state.error());
}

// Of a link's possible masters only a VRF has both flags (drivers/net/vrf.c, vrf_dev_init(), Linux
// 4.3 and later), unless an administrator switches off ARP on a bond.
bool is_vrf(const Root& root, const std::string& netdev) {
  constexpr unsigned kFlags = IFF_MASTER | IFF_NOARP;
  const auto text = read_attribute(root / "/sys/class/net" / netdev / "flags");
  const auto flags = text && text->starts_with("0x")
                         ? number_from<unsigned>(std::string_view{*text}.substr(2), 16)
                         : std::nullopt;
  return flags && (*flags & kFlags) == kFlags;
}

// The link's master (IFLA_MASTER): the configuration of the master decides about its parts. Absent
// also for a VRF: each link in it keeps an MTU and addresses of its own, which others configure.
Field<LinkOwner> master_owner(const Root& root, const std::string& name) {
  const auto master = link_target_name(root / "/sys/class/net" / name / "master");
  if (master && is_vrf(root, *master)) return {};
  if (master) return LinkOwner{LinkManager::Master, true, {}, *master};
  return means_absent(master.error()) ? Field<LinkOwner>{}
                                      : Field<LinkOwner>::unreadable(master.error());
}

bool matches_whole(const std::string& name, const std::string& expression) {
  regex_t compiled{};
  if (::regcomp(&compiled, ("^(" + expression + ")$").c_str(), REG_EXTENDED | REG_NOSUB) != 0)
    return false;
  const bool matches = ::regexec(&compiled, name.c_str(), 0, nullptr, 0) == 0;
  ::regfree(&compiled);
  return matches;
}

bool is_port(const std::vector<std::string>& words, const std::string& name) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (words[at] == name || words[at] == "all") return true;
    if (words[at] == "regex" && at + 1 < words.size() && matches_whole(name, words[at + 1]))
      return true;
  }
  return false;
}

// "rdma" for a word "ens16f0=rdma", "/ens*=rdma" or "/ens*/=rdma" that names or matches this
// interface; empty: the word gives it no configuration of another name. Patterns for a MAC or for
// an attribute in sysfs match nothing here.
std::string configuration_from(std::string_view word, const std::string& name) {
  std::string_view names = cut(word, '=');
  if (!names.starts_with('/')) return names == name ? std::string{word} : "";
  names.remove_prefix(1);
  const std::string pattern{cut(names, '/')};
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0 ? std::string{word} : "";
}

// interfaces(5): of a `source-directory`, names with other characters do not count, such as those
// of backups.
bool is_sourced(const std::string& path) {
  const std::string_view name = base_name(path);
  return std::ranges::all_of(name,
                             [](char c) { return is_alphanumeric(c) || c == '_' || c == '-'; });
}

// The files that this one names.
std::vector<std::string> sources_of(const Root& root, const InterfacesFile& file) {
  const auto whole = [](const std::string& path) {
    return path.front() == '/' ? path : "/etc/network/" + path;
  };
  std::vector<std::string> paths;
  for (const std::string& folder : file.folders)
    append(paths, paths_matching(root, whole(folder) + "/*"));
  std::erase_if(paths, [](const std::string& path) { return !is_sourced(path); });
  for (const std::string& source : file.sources) append(paths, paths_matching(root, whole(source)));
  return paths;
}

// Reads ifupdown's files until `found` is true for one. False: for none, or it is not installed.
template <typename Found>
Result<bool> read_interfaces(const Root& root, const Found& found) {
  auto installed = is_there(root / "/sbin/ifup");
  if (!installed || !*installed) return installed;
  std::vector<std::string> waiting{"/etc/network/interfaces"};
  std::set<std::string> seen;
  while (!waiting.empty() && seen.size() < kInterfacesFiles) {
    const std::string path = std::move(waiting.back());
    waiting.pop_back();
    if (!seen.insert(path).second) continue;
    const auto text = read_file(root / path);
    // ifupdown reads nothing from a folder that a pattern matches.
    if (!text && (means_absent(text.error()) || text.error().code == EISDIR)) continue;
    if (!text) return fail(text.error());
    const InterfacesFile file = parse_interfaces(*text);
    if (found(path, file)) return true;
    append(waiting, sources_of(root, file));
  }
  return false;
}

}  // namespace

Field<LinkOwner> link_owner(const Root& root, const std::string& name, int index, SystemBus& bus) {
  Field<LinkOwner> owner = master_owner(root, name);
  const auto consider = [&](Field<LinkOwner> other) {
    if (rank(other) > rank(owner)) owner = std::move(other);
  };
  if (rank(owner) != kHasIt) consider(networkd_owner(root, index));
  if (rank(owner) != kHasIt) consider(network_manager_owner(root, name, bus));
  if (rank(owner) != kHasIt) consider(ifupdown_owner(root, name));
  return owner;
}

Field<LinkOwner> parse_networkd_link(const std::string& state) {
  const std::string setup = value_of(state, "ADMIN_STATE");
  if (setup == "unmanaged") return {};
  constexpr std::array kUndecided{"", "pending", "initialized"};
  const bool decided = !contains(kUndecided, setup);
  return LinkOwner{LinkManager::Networkd, decided, value_of(state, "NETWORK_FILE")};
}

InterfacesFile parse_interfaces(std::string_view text) {
  InterfacesFile file;
  std::string whole;  // lines joined by a backslash
  while (!text.empty()) {
    whole += cut(text, '\n');
    const bool goes_on = whole.ends_with('\\');
    if (goes_on) whole.pop_back();
    if (goes_on && !text.empty()) continue;
    const auto words = split_at_blanks(whole);
    if (words.size() > 1 && words[0] == "iface") file.interfaces.emplace_back(words[1]);
    if (words.size() > 1 && contains(kStarts, words[0]))
      file.started.insert(file.started.end(), words.begin() + 1, words.end());
    if (words.size() > 1 && contains(kPortOptions, words[0]))
      file.ports.insert(file.ports.end(), words.begin() + 1, words.end());
    if (words.size() > 1 && words[0] == "source") file.sources.emplace_back(words[1]);
    if (words.size() > 1 && words[0] == "source-directory") file.folders.emplace_back(words[1]);
    whole.clear();
  }
  return file;
}

Field<LinkOwner> ifupdown_owner(const Root& root, const std::string& name) {
  std::vector<std::pair<std::string, InterfacesFile>> files;
  std::vector<std::string> names{name};
  const auto read = read_interfaces(root, [&](const std::string& path, const InterfacesFile& file) {
    files.emplace_back(path, file);
    for (const std::string& word : file.started) names.push_back(configuration_from(word, name));
    return false;
  });
  for (const auto& [path, file] : files)
    if (is_port(file.ports, name) ||
        std::ranges::any_of(file.interfaces, [&](const auto& one) { return contains(names, one); }))
      return LinkOwner{LinkManager::Ifupdown, true, path};
  return read ? Field<LinkOwner>{} : Field<LinkOwner>::unreadable(read.error());
}

Result<bool> ifupdown_starts(const Root& root, const std::string& name) {
  return read_interfaces(root, [&](const std::string&, const InterfacesFile& file) {
    return is_port(file.ports, name) ||
           std::ranges::any_of(file.started, [&](std::string_view word) {
             return has_part(word, "/") || cut(word, '=') == name;
           });
  });
}

}  // namespace pvrdma::probes
