// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/next_boot/boot_menu.hpp"

#include <algorithm>
#include <utility>

#include "agent/base/text.hpp"

namespace pvrdma::probes {

namespace {

constexpr std::size_t kDeepest = 16;  // nested submenus; no real menu has as many
constexpr std::string_view kMenuBlanks = " \t\r";

// Splits a line into words as GRUB's shell does: quotes keep blanks, and are removed.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char letter = line[at];
    if (quote != '\'' && letter == '\\' && at + 1 < line.size()) {
      word += line[++at];
      in_word = true;
    } else if (quote != 0) {
      if (letter == quote)
        quote = 0;
      else
        word += letter;
    } else if (letter == '\'' || letter == '"') {
      quote = letter;
      in_word = true;
    } else if (kMenuBlanks.find(letter) != std::string_view::npos) {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
    } else if (letter == '#' && !in_word) {
      break;
    } else {
      word += letter;
      in_word = true;
    }
  }
  if (in_word) words.push_back(word);
  return words;
}

// The value of an option: "--id=x", "--id x", and "$menuentry_id_option x" as grub-mkconfig writes
// it.
std::string id_of(const std::vector<std::string>& words) {
  for (std::size_t at = 1; at < words.size(); ++at) {
    if (words[at].starts_with("--id=")) return words[at].substr(5);
    if ((words[at] == "--id" || words[at] == "$menuentry_id_option") && at + 1 < words.size())
      return words[at + 1];
  }
  return {};
}

bool loads_kernel(std::string_view command) {
  return command == "linux" || command == "linux16" || command == "linuxefi";
}

// The path without its device: "($root)/vmlinuz", "(hd0,gpt2)/vmlinuz".
std::string without_device(const std::string& path) {
  if (!path.starts_with('(')) return path;
  const auto end = path.find(')');
  return end == std::string::npos ? path : path.substr(end + 1);
}

class MenuReader {
 public:
  BootMenu read(std::string_view text) {
    while (!text.empty()) take(words_of(cut(text, '\n')));
    return std::move(menu_);
  }

 private:
  enum class Block { Other, Entry, Submenu };

  // The list that takes a new entry: that of the innermost submenu. Found by position, because
  // vectors move.
  std::vector<MenuEntry>& level() {
    std::vector<MenuEntry>* entries = &menu_.entries;
    for (const Block block : open_)
      if (block == Block::Submenu) entries = &entries->back().entries;
    return *entries;
  }

  void take(const std::vector<std::string>& words) {
    if (words.empty()) return;
    const std::string& command = words.front();
    if (counting_ > 0 || counts_boots(words)) {
      if (command == "if") ++counting_;
      if (words.back() == "fi") --counting_;
    } else if (command == "}") {
      if (!open_.empty()) open_.pop_back();
    } else if (words.back() == "{" || command.ends_with("(){")) {
      open_block(words);
    } else if (!open_.empty() && open_.back() == Block::Entry) {
      if (loads_kernel(command) && words.size() > 1) take_kernel(words);
    } else if (open_.empty()) {
      take_setting(words);
    }
  }

  // True for `if [ -n "${boot_counter}" …` of Enterprise Linux: what is set there depends on
  // grubenv.
  static bool counts_boots(const std::vector<std::string>& words) {
    return words.front() == "if" && contains(words, "${boot_counter}");
  }

  void open_block(const std::vector<std::string>& words) {
    const Block block = words.size() <= 2 || open_.size() >= kDeepest ? Block::Other
                        : words.front() == "menuentry"                ? Block::Entry
                        : words.front() == "submenu"                  ? Block::Submenu
                                                                      : Block::Other;
    if (block != Block::Other) level().push_back({words[1], id_of(words), {}, {}, {}});
    open_.push_back(block);
  }

  void take_kernel(const std::vector<std::string>& words) {
    MenuEntry& entry = level().back();
    entry.kernel = without_device(words[1]);
    entry.options = joined({words.begin() + 2, words.end()}, " ");
  }

  void take_setting(const std::vector<std::string>& words) {
    if (words.front() == "blscfg") menu_.by_spec = true;
    if (words.front() != "set" || words.size() < 2 || !words[1].starts_with("default=")) return;
    const std::string value = words[1].substr(8);
    if (value != "${next_entry}" && value != "$next_entry") menu_.chosen = value;
  }

  BootMenu menu_;
  std::vector<Block> open_;
  unsigned counting_ = 0;  // the number of `if` that are open since counts_boots()
};

const MenuEntry* find_one(const std::vector<MenuEntry>& entries, std::string_view name) {
  if (const auto number = number_from<std::size_t>(name))
    return *number < entries.size() ? &entries[*number] : nullptr;
  const auto found = std::ranges::find_if(
      entries, [&](const MenuEntry& entry) { return entry.id == name || entry.title == name; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

BootMenu parse_grub_menu(std::string_view text) { return MenuReader{}.read(text); }

std::map<std::string, std::string> parse_grub_environment(std::string_view text) {
  std::map<std::string, std::string> values;
  while (!text.empty()) {
    const std::string_view line = cut(text, '\n');
    const auto equals = line.find('=');
    if (equals != std::string_view::npos && !line.starts_with('#'))
      values[std::string{line.substr(0, equals)}] = line.substr(equals + 1);
  }
  return values;
}

const MenuEntry* find_entry(const std::vector<MenuEntry>& entries, std::string_view selection) {
  // A title may contain ">" itself.
  const MenuEntry* entry = find_one(entries, selection);
  if (entry == nullptr && selection.find('>') != std::string_view::npos) {
    const MenuEntry* submenu = find_one(entries, cut(selection, '>'));
    return submenu == nullptr ? nullptr : find_entry(submenu->entries, selection);
  }
  while (entry != nullptr && !entry->entries.empty()) entry = &entry->entries.front();
  return entry;
}

MenuEntry parse_loader_entry(std::string_view name, std::string_view text) {
  MenuEntry entry;
  entry.id = name;
  while (!text.empty()) {
    const std::string_view line = trimmed(cut(text, '\n'));
    const std::string_view key = line.substr(0, line.find_first_of(kMenuBlanks));
    const std::string value{trimmed(line.substr(key.size()))};
    if (key == "title") entry.title = value;
    if (key == "linux") entry.kernel = value;
    if (key == "options") entry.options += (entry.options.empty() ? "" : " ") + value;
  }
  return entry;
}

}  // namespace pvrdma::probes
