// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the settings of links from netplan's files.

#include "agent/base/text.hpp"
#include "agent/model/identifiers.hpp"
#include "agent/tools/migrate/link_settings.hpp"
#include "agent/tools/survey/link_files.hpp"
#include "probes/recipe/command.hpp"

namespace pvrdma::ctl::migration {

namespace {

constexpr std::size_t kNetplanLimit = 256U << 10U;

// A key above the current line, with its indentation.
struct Key {
  std::size_t indent = 0;
  std::string name;
};

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  void read(unsigned number, std::string_view line) {
    line = line.substr(0, line.find('#'));
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string_view::npos) return;
    const std::string_view content = trimmed(line);
    if (in_brackets_) return take_addresses(content);
    const bool item = content.starts_with('-') || content.starts_with('[');
    // YAML allows the items of a list to stand as far left as the list's key.
    std::erase_if(keys_, [&](const Key& key) {
      return key.indent > indent || (key.indent == indent && !item);
    });
    if (item) {
      if (is_of_link(1) && keys_.back().name == "addresses") take_addresses(content);
      return;
    }
    const std::size_t colon = content.find(':');
    if (colon == std::string_view::npos) return;
    const std::string name = probes::bare_value(content.substr(0, colon));
    const std::string_view value = trimmed(content.substr(colon + 1));
    if (is_link_name())
      links.push_back({name, {}, {}, {}, {file_ + ":" + std::to_string(number)}, {file_}});
    if (is_of_link(0)) {
      if (name == "mtu") links.back().mtu = number_from<unsigned>(value);
      if (name == "addresses") take_addresses(value);
      if (name == "match" || name == "set-name") links.back().netdev.clear();
    }
    keys_.push_back({indent, name});
  }

  std::vector<LinkSettings> links;

 private:
  // True where the keys above are network and ethernets.
  [[nodiscard]] bool is_link_name() const {
    return keys_.size() == 2 && keys_[1].name == "ethernets";
  }
  // `below`: the number of keys between the link's key and this line.
  [[nodiscard]] bool is_of_link(std::size_t below) const {
    return keys_.size() == 3 + below && keys_[1].name == "ethernets" && !links.empty();
  }
  // A list in brackets may go on in the next lines.
  void take_addresses(std::string_view text) {
    in_brackets_ =
        (in_brackets_ || text.starts_with('[')) && text.find(']') == std::string_view::npos;
    for (const std::string_view word : probes::words_in(text)) {
      std::string_view rest = word;
      while (!rest.empty()) {
        std::string_view one = cut(rest, ',');
        if (one.ends_with(':')) one.remove_suffix(1);  // with a label or lifetime below it
        if (parse_interface_address(one)) links.back().addresses.emplace_back(one);
      }
    }
  }

  std::string file_;
  std::vector<Key> keys_;
  bool in_brackets_ = false;  // of addresses
};

}  // namespace

std::vector<LinkSettings> parse_netplan(const std::string& file, std::string_view text) {
  Reader reader{file};
  for (unsigned number = 1; !text.empty(); ++number) reader.read(number, cut(text, '\n'));
  std::erase_if(reader.links, [](const LinkSettings& link) { return link.netdev.empty(); });
  return std::move(reader.links);
}

std::vector<LinkSettings> netplan_links(const Root& root) {
  constexpr const char* kFolder = "/etc/netplan";
  std::vector<LinkSettings> links;
  for (const std::string& name :
       list_directory(root / kFolder, kTrustedLinks).value_or(std::vector<std::string>{})) {
    const std::string file = std::string{kFolder} + "/" + name;
    if (!name.ends_with(".yaml")) continue;
    const auto text = read_file(root / file, kNetplanLimit, kTrustedLinks);
    if (!text) continue;
    auto found = parse_netplan(file, *text);
    links.insert(links.end(), found.begin(), found.end());
  }
  return links;
}

}  // namespace pvrdma::ctl::migration
