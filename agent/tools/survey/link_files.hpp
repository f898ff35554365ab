// SPDX-License-Identifier: GPL-2.0-or-later
// What the configuration of network managers on disk says about the link of an adapter: netplan,
// systemd-networkd, NetworkManager (keyfiles and ifcfg files) and ifupdown. Only managers that
// systemd starts count.
//
// A running manager can be asked (probes/link_owner.hpp); before the next boot none can. So its
// files are read for the links they match. Where a match depends on something that is not read
// here, the result is an owner with `decided` false: this manager may take the link.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"
#include "probes/settings.hpp"

namespace pvrdma {

// A profile of NetworkManager's that names a link, by its interface or its MAC address.
struct LinkProfile {
  std::string file;
  int priority = 0;  // autoconnect-priority; a larger one comes first
  // Seconds since 1970; 0: never, or not to be read. None: the profile has no UUID; then
  // NetworkManager keeps the time under one that it makes from the file's path.
  std::optional<std::uint64_t> last_used = 0;
  friend bool operator==(const LinkProfile&, const LinkProfile&) = default;
};

// A file that goes by a MAC address, in lower case with colons, or by any of several.
struct MacFile {
  std::string file;
  std::vector<std::string> macs;
  friend bool operator==(const MacFile&, const MacFile&) = default;
};

}  // namespace pvrdma

namespace pvrdma::probes {

// A vmxnet3 link, as far as it is known; an empty field matches nothing.
struct LinkNames {
  std::string netdev;  // "ens224f0"
  std::string mac;     // lower case
};

struct LinkFiles {
  Field<LinkOwner> owner;  // absent: no manager that starts at boot has it
  // In NetworkManager's order (nm-settings(5), connection.autoconnect-priority): the larger
  // priority, then the one that was used last. One whose last use is not known comes before the
  // others of its priority.
  std::vector<LinkProfile> profiles;
  std::vector<std::string> refused;  // keyfiles for the link that NetworkManager does not accept
  std::vector<MacFile> macs;         // whichever link it is; of files that could be read
};
[[nodiscard]] LinkFiles look_at_link_files(const Root& root, const LinkNames& link);

// The last value of a key; null: there is none. As in systemd's lists, an empty value resets
// earlier ones.
[[nodiscard]] const std::string* find_setting(const std::vector<Setting>& settings,
                                              std::string_view section, std::string_view key);
// The same; empty: there is none.
[[nodiscard]] std::string value_of(const std::vector<Setting>& settings, const char* section,
                                   const char* key);

// The text without the blanks and the pair of quotes around it.
[[nodiscard]] std::string bare_value(std::string_view text);
// The value of an ifcfg file's setting as NetworkManager reads it (svUnescape() of its ifcfg-rh
// plugin): without quotes, up to a blank or a ";" outside of them, after which a comment may stand.
[[nodiscard]] std::string ifcfg_value(std::string_view text);

// A boolean of systemd (systemd.syntax(7)): "yes", "Y", "on", "0"; none: another word.
[[nodiscard]] std::optional<bool> boolean_from(std::string_view word);

enum class Match { No, Maybe, Yes };

// Matches [Match] of a .network file (systemd.network(5)).
[[nodiscard]] Match match_network(const std::vector<Setting>& settings, const LinkNames& link);
// Matches a keyfile of NetworkManager (nm-settings-keyfile(5)), or an ifcfg file.
[[nodiscard]] Match match_keyfile(const std::vector<Setting>& settings, const LinkNames& link);
[[nodiscard]] Match match_ifcfg(const std::vector<Setting>& settings, const LinkNames& link);

// The MAC addresses that a file of one of these three goes by.
[[nodiscard]] std::vector<std::string> macs_of(const std::vector<Setting>& settings);

struct NetplanFile {
  Match match = Match::No;
  // `renderer`: of interfaces in this file, and of all interfaces in all files without their own.
  std::optional<LinkManager> renderer{}, renderer_of_all{};
  std::vector<std::string> macs{};  // of `match`
};
// Read by lines for the keys that name interfaces: an id that is the interface's name and has no
// `match`; of a `match` all of `name`, `macaddress` and `driver`. The name may also be that of
// `set-name`, which the interface has after its first boot with the file.
[[nodiscard]] NetplanFile match_netplan(std::string_view text, const LinkNames& link);

}  // namespace pvrdma::probes
