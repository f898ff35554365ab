// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/survey/link_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/tools/survey/unit_files.hpp"
#include "probes/link_owner.hpp"

namespace pvrdma::probes {

namespace {

// Those of systemd-networkd, but for /run, which ends with the boot.
constexpr std::array kNetworkFolders{"/etc/systemd/network", "/usr/local/lib/systemd/network",
                                     "/usr/lib/systemd/network", "/lib/systemd/network"};
constexpr const char* kKeyfiles = "/etc/NetworkManager/system-connections";
constexpr const char* kIfcfg = "/etc/sysconfig/network-scripts";
// The plugin by which NetworkManager reads them. Debian and Enterprise Linux 10 do not have it.
constexpr const char* kIfcfgPlugin = "/usr/lib*/NetworkManager/*/libnm-settings-plugin-ifcfg-rh.so";
// When NetworkManager last had a profile in use, by its UUID.
constexpr const char* kTimestamps = "/var/lib/NetworkManager/timestamps";

// What a profile says, in a keyfile or as an ifcfg file has it; empty: nothing.
std::string profile_value(const std::vector<Setting>& settings, const char* key,
                          const char* of_ifcfg) {
  std::string value = value_of(settings, "connection", key);
  return value.empty() ? ifcfg_value(value_of(settings, "", of_ifcfg)) : value;
}

// The plugin ignores what editors, rpm and augeas leave (utils_should_ignore_file() in its source).
bool is_ifcfg(const std::string& file) {
  constexpr std::array kLeft{".bak", "~", ".orig", ".rej", ".rpmnew", ".augnew", ".augtmp"};
  const std::string name = lower(file);
  return file.starts_with(std::string{kIfcfg} + "/ifcfg-") &&
         std::ranges::none_of(kLeft, [&](const char* end) { return name.ends_with(end); });
}

class LinkFilesSearch {
 public:
  LinkFilesSearch(const Root& root, const LinkNames& link) : root_(root), link_(link) {}

  LinkFiles run() {
    look_at_netplan();
    if (is_enabled("systemd-networkd.service")) look_at_networkd();
    if (is_enabled("NetworkManager.service")) look_at_network_manager();
    look_at_ifupdown();
    // An owner that certainly has the link outranks unreadable files, and these outrank one that
    // may take it.
    if (error_ && !(owner_ && owner_->decided))
      files_.owner = Field<LinkOwner>::unreadable(*error_);
    else if (owner_)
      files_.owner = *owner_;
    return std::move(files_);
  }

 private:
  bool is_enabled(const std::string& service) {
    const auto unit = unit_file(root_, service);
    if (const Error* error = unit.error()) note(*error);
    return unit.is_known() && unit.get()->enabled;
  }

  void note(const Error& error) {
    if (!error_) error_ = error;
  }

  void take(LinkManager manager, Match match, const std::string& file) {
    if (match == Match::No || (owner_ && (owner_->decided || match == Match::Maybe))) return;
    owner_ = LinkOwner{manager, match == Match::Yes, file};
  }

  void take_macs(const std::vector<std::string>& macs, const std::string& file) {
    if (!macs.empty()) files_.macs.push_back({file, macs});
  }

  // The file's text. None: there is no such file, or it is unreadable, which is noted.
  std::optional<std::string> text_of(const std::string& path) {
    auto text = read_file(root_ / path);
    if (text) return std::move(*text);
    if (!means_absent(text.error())) note(text.error());
    return std::nullopt;
  }

  // Without folders, which no manager reads as files.
  std::vector<std::string> files_in(const std::vector<std::string>& folders,
                                    std::string_view suffix) {
    auto files = merged_files(root_, folders, suffix);
    if (!files) {
      note(files.error());
      return {};
    }
    std::erase_if(*files, [&](const std::string& file) {
      const auto status = status_of(root_ / file);
      return status && !S_ISREG(status->st_mode);
    });
    return std::move(*files);
  }

  // netplan's generator enables the renderer by itself.
  void look_at_netplan() {
    const auto files = files_in({"/etc/netplan", "/usr/lib/netplan", "/lib/netplan"}, ".yaml");
    std::vector<NetplanFile> found;
    LinkManager renderer = LinkManager::Networkd;
    for (const std::string& file : files) {
      found.push_back(match_netplan(text_of(file).value_or(""), link_));
      renderer = found.back().renderer_of_all.value_or(renderer);
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
      take(found[i].renderer.value_or(renderer), found[i].match, files[i]);
      for (const std::string& mac : found[i].macs) take_macs({mac}, files[i]);
    }
  }

  // Drop-ins come after the file, in the order of their names. None: the file is not readable.
  std::optional<std::vector<Setting>> network_settings(const std::string& file) {
    const auto text = text_of(file);
    if (!text) return std::nullopt;
    auto settings = parse_settings(*text);
    std::vector<std::string> folders;
    folders.reserve(kNetworkFolders.size());
    for (const char* const folder : kNetworkFolders)
      folders.push_back(folder + file.substr(file.rfind('/')) + ".d");
    for (const std::string& drop_in : files_in(folders, ".conf"))
      append(settings, parse_settings(text_of(drop_in).value_or("")));
    return settings;
  }

  // The first file that matches counts, even where it declares the link unmanaged.
  void look_at_networkd() {
    for (const std::string& file :
         files_in({kNetworkFolders.begin(), kNetworkFolders.end()}, ".network")) {
      const auto found = network_settings(file);
      if (!found) continue;
      const auto& settings = *found;
      const Match match = match_network(settings, link_);
      take_macs(macs_of(settings), file);
      const std::string* unmanaged = find_setting(settings, "Link", "Unmanaged");
      const bool lets_go = unmanaged != nullptr && boolean_from(*unmanaged).value_or(false);
      if (!lets_go) take(LinkManager::Networkd, match, file);
      if (match == Match::Yes) return;
    }
  }

  void look_at_network_manager() {
    times_ = parse_settings(read_file(root_ / kTimestamps).value_or(std::string{}));
    for (const std::string& file :
         files_in({kKeyfiles, "/usr/lib/NetworkManager/system-connections"}, ""))
      if (!file.ends_with('~') && !is_refused(file)) look_at_profile(file, match_keyfile);
    if (!paths_matching(root_, kIfcfgPlugin).empty())
      for (const std::string& file : files_in({kIfcfg}, ""))
        if (is_ifcfg(file)) look_at_profile(file, match_ifcfg);
    std::ranges::stable_sort(files_.profiles, std::greater{}, [](const LinkProfile& one) {
      return std::tuple{one.priority, !one.last_used, one.last_used};
    });
    for (const LinkProfile& profile : files_.profiles)
      take(LinkManager::NetworkManager, Match::Yes, profile.file);
    for (const std::string& file : unnamed_) take(LinkManager::NetworkManager, Match::Yes, file);
    // NetworkManager makes a connection for each link without one, unless it is configured not to.
    take(LinkManager::NetworkManager, Match::Maybe, "");
  }

  // NetworkManager refuses a keyfile that another user owns, or may read or write
  // (nms_keyfile_utils_check_file_permissions() in its source). The files of an image may belong to
  // the user who looks at it.
  bool is_refused(const std::string& file) {
    const auto status = status_of(root_ / file);
    if (!status) return false;
    const bool is_of_root =
        status->st_uid == 0 || (!root_.is_this_system() && status->st_uid == ::geteuid());
    if (is_of_root && (status->st_mode & 0077U) == 0) return false;
    const auto text = text_of(file);
    if (text && match_keyfile(parse_settings(*text), link_) == Match::Yes)
      files_.refused.push_back(file);
    return true;
  }

  template <typename Matches>
  void look_at_profile(const std::string& file, const Matches& matches) {
    const auto text = text_of(file);
    if (!text) return;
    const auto settings = parse_settings(*text);
    const std::string uuid = profile_value(settings, "uuid", "UUID");
    // Of files with one UUID, such as a copy, NetworkManager has one; here it is the first.
    if (!uuid.empty() && !uuids_.insert(uuid).second) return;
    const Match match = matches(settings, link_);
    const auto macs = macs_of(settings);
    take_macs(macs, file);
    if (match == Match::Maybe) take(LinkManager::NetworkManager, match, file);
    if (match != Match::Yes) return;
    if (macs.empty() && profile_value(settings, "interface-name", "DEVICE").empty())
      return unnamed_.push_back(file);
    LinkProfile& profile = files_.profiles.emplace_back();
    profile.file = file;
    profile.priority =
        number_from<int>(profile_value(settings, "autoconnect-priority", "AUTOCONNECT_PRIORITY"))
            .value_or(0);
    if (uuid.empty())
      profile.last_used.reset();
    else if (const std::string* time = find_setting(times_, "timestamps", uuid))
      profile.last_used = number_from<std::uint64_t>(*time).value_or(0);
  }

  void look_at_ifupdown() {
    if (link_.netdev.empty()) return;
    const auto owner = ifupdown_owner(root_, link_.netdev);
    if (const Error* error = owner.error()) note(*error);
    const LinkOwner* found = owner.get();
    if (found == nullptr) return;
    const auto starts = ifupdown_starts(root_, link_.netdev);
    if (!starts) note(starts.error());
    take(found->manager, starts.value_or(false) ? Match::Yes : Match::Maybe, found->file);
  }

  const Root& root_;
  const LinkNames& link_;
  LinkFiles files_;
  std::optional<LinkOwner> owner_;
  std::optional<Error> error_;
  std::vector<Setting> times_;
  std::set<std::string> uuids_;       // of NetworkManager's profiles
  std::vector<std::string> unnamed_;  // profiles for any link
};

}  // namespace

const std::string* find_setting(const std::vector<Setting>& settings, std::string_view section,
                                std::string_view key) {
  const auto found = std::find_if(settings.rbegin(), settings.rend(), [&](const Setting& one) {
    return one.section == section && one.key == key;
  });
  return found == settings.rend() ? nullptr : &found->value;
}

std::optional<bool> boolean_from(std::string_view word) {
  constexpr std::array kYes{"1", "yes", "y", "true", "t", "on"};
  constexpr std::array kNo{"0", "no", "n", "false", "f", "off"};
  const std::string small = lower(word);
  if (contains(kYes, small)) return true;
  return contains(kNo, small) ? std::optional{false} : std::nullopt;
}

std::string ifcfg_value(std::string_view text) {
  std::string value;
  char quote = '\0';  // the one that is open, if any
  for (const char letter : text) {
    if (quote == '\0' && (letter == ' ' || letter == '\t' || letter == ';')) break;
    if (letter == quote)
      quote = '\0';
    else if (quote == '\0' && (letter == '"' || letter == '\''))
      quote = letter;
    else
      value += letter;
  }
  return value;
}

std::string value_of(const std::vector<Setting>& settings, const char* section, const char* key) {
  const std::string* found = find_setting(settings, section, key);
  return found == nullptr ? "" : *found;
}

LinkFiles look_at_link_files(const Root& root, const LinkNames& link) {
  return LinkFilesSearch{root, link}.run();
}

}  // namespace pvrdma::probes
