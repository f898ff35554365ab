// SPDX-License-Identifier: GPL-2.0-or-later
// GRUB's menu, read far enough to tell which entry is the default and which kernel it boots.
//
// Pure. grub.cfg is a script (GRUB manual, "Writing full configuration files directly"); what is
// read here is what grub-mkconfig writes: the menu, and the assignments to `default`.
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
  std::string chosen;    // "0", "${saved_entry}": what `default` is without a `next_entry`
  bool by_spec = false;  // its entries are files in /boot/loader/entries: `blscfg`
};

// Assignments inside of functions and menu entries do not count.
[[nodiscard]] BootMenu parse_grub_menu(std::string_view text);

// "NAME=value" lines of an environment block (grub-editenv).
[[nodiscard]] std::map<std::string, std::string> parse_grub_environment(std::string_view text);

// The entry of a number, title or id, for submenus with ">" between; of a submenu alone its first.
// Null: there is none.
[[nodiscard]] const MenuEntry* find_entry(const std::vector<MenuEntry>& entries,
                                          std::string_view selection);

// A file of /boot/loader/entries (Boot Loader Specification, type 1); `name` without ".conf" is its
// id.
[[nodiscard]] MenuEntry parse_loader_entry(std::string_view name, std::string_view text);

}  // namespace pvrdma::probes
