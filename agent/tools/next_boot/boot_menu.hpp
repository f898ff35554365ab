// SPDX-License-Identifier: GPL-2.0-or-later
// Reads from GRUB's menu which entry is the default and which kernel it boots.
//
// Pure. grub.cfg is a script (GRUB manual, "Writing full configuration files directly"); only the
// form that grub-mkconfig writes is read: the menu, and the assignments to `default`.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pvrdma::probes {

struct MenuEntry {
  std::string title, id;
  std::string kernel;              // "/boot/vmlinuz-6.1.0-13-amd64", from the root of a file system
  std::string options;             // the kernel's command line
  std::vector<MenuEntry> entries;  // of a submenu
  friend bool operator==(const MenuEntry&, const MenuEntry&) = default;
};

struct BootMenu {
  std::vector<MenuEntry> entries;
  std::string chosen;    // "0", "${saved_entry}": the value of `default` without a `next_entry`
  bool by_spec = false;  // the entries are files in /boot/loader/entries: `blscfg`
};

// Ignores assignments in functions and menu entries.
[[nodiscard]] BootMenu parse_grub_menu(std::string_view text);

// The "NAME=value" lines of an environment block (grub-editenv).
[[nodiscard]] std::map<std::string, std::string> parse_grub_environment(std::string_view text);

// The entry with a number, title or id; ">" stands between the levels of submenus; a submenu stands
// for its first entry. Null: there is none.
[[nodiscard]] const MenuEntry* find_entry(const std::vector<MenuEntry>& entries,
                                          std::string_view selection);

// Reads a file of /boot/loader/entries (Boot Loader Specification, type 1); `name` without ".conf"
// is the entry's id.
[[nodiscard]] MenuEntry parse_loader_entry(std::string_view name, std::string_view text);

}  // namespace pvrdma::probes
