// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/next_boot/link_files.hpp"

#include <optional>
#include <utility>

#include "probes/link_owner.hpp"
#include "probes/unit_files.hpp"

namespace pvrdma::probes {

namespace {

constexpr const char* kKeyfiles = "/etc/NetworkManager/system-connections";
constexpr const char* kIfcfg = "/etc/sysconfig/network-scripts";

class OwnerSearch {
 public:
  OwnerSearch(const Root& root, const LinkNames& link) : root_(root), link_(link) {}

  Field<LinkOwner> run() {
    look_at_netplan();
    if (is_enabled("systemd-networkd.service")) look_at_networkd();
    if (is_enabled("NetworkManager.service")) look_at_network_manager();
    look_at_ifupdown();
    // An owner that certainly has the link outranks unreadable files, and these outrank one that
    // may take it.
    if (owner_ && owner_->decided) return *owner_;
    if (error_) return Field<LinkOwner>::unreadable(*error_);
    return owner_ ? Field<LinkOwner>{*owner_} : Field<LinkOwner>{};
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

  // The file's text. None: there is no such file, or it is unreadable, which is noted.
  std::optional<std::string> text_of(const std::string& path) {
    auto text = read_file(root_ / path);
    if (text) return std::move(*text);
    if (!means_absent(text.error())) note(text.error());
    return std::nullopt;
  }

  std::vector<std::string> files_in(const std::vector<std::string>& folders,
                                    std::string_view suffix) {
    auto files = merged_files(root_, folders, suffix);
    if (files) return std::move(*files);
    note(files.error());
    return {};
  }

  // netplan's generator enables the renderer by itself.
  void look_at_netplan() {
    for (const std::string& file :
         files_in({"/etc/netplan", "/usr/lib/netplan", "/lib/netplan"}, ".yaml")) {
      const auto text = text_of(file);
      const NetplanFile found = match_netplan(text.value_or(""), link_);
      take(found.network_manager ? LinkManager::NetworkManager : LinkManager::Networkd, found.match,
           file);
    }
  }

  // The first file that matches counts, even where it declares the link unmanaged.
  void look_at_networkd() {
    for (const std::string& file :
         files_in({"/etc/systemd/network", "/usr/local/lib/systemd/network",
                   "/usr/lib/systemd/network", "/lib/systemd/network"},
                  ".network")) {
      const auto text = text_of(file);
      if (!text) continue;
      const auto settings = parse_settings(*text);
      const Match match = match_network(settings, link_);
      const std::string* unmanaged = find_setting(settings, "Link", "Unmanaged");
      const bool lets_go = unmanaged != nullptr && boolean_from(*unmanaged).value_or(false);
      if (!lets_go) take(LinkManager::Networkd, match, file);
      if (match == Match::Yes) return;
    }
  }

  void look_at_network_manager() {
    for (const std::string& file :
         files_in({kKeyfiles, "/usr/lib/NetworkManager/system-connections"}, ""))
      if (const auto text = text_of(file))
        take(LinkManager::NetworkManager, match_keyfile(parse_settings(*text), link_), file);
    for (const std::string& file : files_in({kIfcfg}, "")) {
      if (!file.starts_with(std::string{kIfcfg} + "/ifcfg-")) continue;
      if (const auto text = text_of(file))
        take(LinkManager::NetworkManager, match_ifcfg(parse_settings(*text), link_), file);
    }
    // NetworkManager makes a connection for each link without one, unless it is configured not to.
    take(LinkManager::NetworkManager, Match::Maybe, "");
  }

  void look_at_ifupdown() {
    if (link_.netdev.empty()) return;
    const auto owner = ifupdown_owner(root_, link_.netdev);
    if (const Error* error = owner.error()) note(*error);
    if (const LinkOwner* found = owner.get()) take(found->manager, Match::Yes, found->file);
  }

  const Root& root_;
  const LinkNames& link_;
  std::optional<LinkOwner> owner_;
  std::optional<Error> error_;
};

}  // namespace

Field<LinkOwner> link_owner_on_disk(const Root& root, const LinkNames& link) {
  return OwnerSearch{root, link}.run();
}

}  // namespace pvrdma::probes
