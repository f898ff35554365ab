// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/migrate/link_settings.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/config/draft.hpp"
#include "agent/config/toml_tree.hpp"
#include "agent/model/adapter_match.hpp"
#include "agent/model/identifiers.hpp"
#include "agent/tools/survey/machine.hpp"
#include "probes/pci.hpp"
#include "probes/recipe/command.hpp"

namespace pvrdma::ctl::migration {

namespace {

using probes::LineKind;
using Words = std::vector<std::string_view>;

// The number of leading ones of "255.255.255.0"; none: the text is no netmask.
std::optional<unsigned> prefix_of(std::string_view netmask) {
  std::uint32_t bits = 0;
  for (int part = 0; part < 4; ++part) {
    const auto number = number_from<std::uint8_t>(cut(netmask, '.'));
    if (!number) return std::nullopt;
    bits = bits << 8U | *number;
  }
  const int prefix = std::countl_one(bits);
  if (!netmask.empty() || std::popcount(bits) != prefix) return std::nullopt;
  return static_cast<unsigned>(prefix);
}

// The object of ip(8), "link": the first word that is neither an option nor an option's argument.
Words::const_iterator object_in(const Words& words) {
  constexpr std::array<std::string_view, 7> kWithArgument{"-f",  "-family", "-l", "-loops",
                                                          "-rc", "-rcvbuf", "-b"};
  auto at = words.begin();
  for (; at != words.end() && at->starts_with('-'); ++at)
    if (contains(kWithArgument, *at) && at + 1 != words.end()) ++at;
  return at;
}

// Other objects of ip(8), such as routes, have addresses and an mtu too. Interfaces of another
// network namespace (-n) are not this machine's.
LinkSettings of_ip(const Words& words) {
  LinkSettings link;
  const auto object = object_in(words);
  if (object == words.end() || contains(words, "-n") || contains(words, "-netns")) return link;
  link.netdev = word_behind(words, "dev");
  // ip(8) takes any beginning of an object's name.
  if (std::string_view{"link"}.starts_with(*object)) {
    if (contains(words, "set") && link.netdev.empty()) link.netdev = word_behind(words, "set");
    link.mtu = number_from<unsigned>(word_behind(words, "mtu"));
  } else if (std::string_view{"address"}.starts_with(*object) &&
             (contains(words, "add") || contains(words, "replace"))) {
    const std::string_view peer = word_behind(words, "peer");
    for (const std::string_view word : words)
      if (word.find('/') != std::string_view::npos && word != peer && parse_interface_address(word))
        link.addresses.emplace_back(word);
  }
  return link;
}

// ifconfig NETDEV [ADDRESS[/BITS]] [netmask MASK] [mtu N]
LinkSettings of_ifconfig(const Words& words) {
  LinkSettings link;
  if (words.size() < 2) return link;
  link.netdev = words[0];
  link.mtu = number_from<unsigned>(word_behind(words, "mtu"));
  std::string address{words[1]};
  if (const auto prefix = prefix_of(word_behind(words, "netmask")))
    address += "/" + std::to_string(*prefix);
  if (parse_interface_address(address)) link.addresses.push_back(address);
  return link;
}

// The settings from several places, by link.
class Collection {
 public:
  // Takes only settings that the agent's configuration allows.
  void add(const LinkSettings& link) {
    const bool has_mtu = link.mtu && *link.mtu >= kAdapterMtuMin && *link.mtu <= kAdapterMtuMax;
    if (!has_mtu && link.addresses.empty()) return;
    const auto [at, is_new] = index_.try_emplace(link.netdev, links.size());
    if (is_new) links.push_back(LinkSettings{link.netdev});
    LinkSettings& known = links[at->second];
    if (has_mtu) known.mtu = link.mtu;
    for (const std::string& address : link.addresses)
      if (addresses_.emplace(link.netdev, address).second) known.addresses.push_back(address);
    known.from.insert(known.from.end(), link.from.begin(), link.from.end());
    known.netplan.insert(known.netplan.end(), link.netplan.begin(), link.netplan.end());
  }

  std::vector<LinkSettings> links;

 private:
  std::map<std::string, std::size_t> index_;                 // by netdev, into links
  std::set<std::pair<std::string, std::string>> addresses_;  // pairs of netdev and address
};

// True where the line may set links: also where it reloads the driver as well. What a unit runs
// when it is stopped is no setting to keep.
bool may_set_links(const probes::RecipeFile& file, const probes::RecipeLine& line) {
  const bool at_stop = file.form == probes::RecipeForm::Unit && line.text.starts_with("ExecStop");
  return file.in_effect && line.kind != LineKind::Port && !at_stop;
}

// True: the line applies netplan's files.
bool take_line(const probes::RecipeLine& line, const std::string& from, Collection& into) {
  bool netplan = false;
  const auto take = [&](LinkSettings link) {
    link.from = {from};
    into.add(link);
  };
  for (const std::string& command : probes::commands_in(probes::without_comment(line.text))) {
    if (command.find('$') != std::string::npos) continue;
    const Words words = probes::words_in(command);
    for (auto at = words.begin(); at != words.end(); ++at) {
      const Words rest{at + 1, words.end()};
      const std::string_view tool = base_name(*at);
      if (tool == "ip") take(of_ip(rest));
      if (tool == "ifconfig") take(of_ifconfig(rest));
      netplan = netplan || (tool == "netplan" && contains(rest, "apply"));
    }
  }
  return netplan;
}

// A netdev with a name that a path and a configuration may contain.
bool is_adapter(const std::string& netdev, const probes::RecipeScope& scope) {
  return netdev_name(netdev) == netdev && probes::words_in(netdev).size() == 1 &&
         (scope.netdevs.empty() || contains(scope.netdevs, netdev));
}

void drop_configured(const Config& config, const std::vector<probes::PciAdapter>& adapters,
                     LinkSettings& link) {
  AdapterNames names;
  names.netdev = link.netdev;
  if (!link.mac.empty()) names.mac = link.mac;
  for (const probes::PciAdapter& adapter : adapters)
    if (adapter.netdev.is(link.netdev)) {
      names.function = adapter.function;
      names.net_function = adapter.net_function;
    }
  const auto table = find_config(config, names);
  link.has_table = !table || *table != &config.every_adapter;
  const AdapterConfig& adapter = *table.value_or(&config.every_adapter);
  if (adapter.mtu == link.mtu) link.mtu.reset();
  std::erase_if(link.addresses,
                [&](const std::string& address) { return contains(adapter.addresses, address); });
}

// As many interfaces are tried as tables. A VM has at most ten adapters.
constexpr std::size_t kMostLinks = 64;

// Where they are set, within a line. A line end in the name of a file would make the rest of it
// configuration.
std::string places_of(const LinkSettings& link) {
  constexpr std::size_t kMostPlaces = 8;
  std::vector<std::string> places;
  for (const std::string& place : link.from) {
    if (places.size() == kMostPlaces) {
      places.push_back(std::to_string(link.from.size() - kMostPlaces) + " more places");
      break;
    }
    places.push_back(printable(place, 300));
  }
  return joined(places);
}

// The lines of its table, below `match`.
std::vector<std::string> lines_of(const LinkSettings& link) {
  std::vector<std::string> lines;
  if (link.mtu) lines.push_back("mtu = " + std::to_string(*link.mtu));
  if (!link.addresses.empty())
    lines.push_back("addresses = [\"" + joined(link.addresses, "\", \"") + "\"]");
  return lines;
}

std::string table_of(const LinkSettings& link) {
  std::string text = "[[adapter]]  # in place of " + places_of(link) + "\n";
  text += "match = { netdev = \"" + link.netdev + "\" }" +
          (link.mac.empty() ? "" : "  # mac = \"" + link.mac + "\"") + "\n";
  for (const std::string& line : lines_of(link)) text += line + "\n";
  return text;
}

// By the configuration's own reader; empty: it takes all of it.
std::string why_refused(const std::string& toml) {
  ConfigDraft draft;
  const auto read = toml_tree::parse(toml, "").and_then([&](const toml_tree::Node& tree) {
    return draft.add(tree, "").and_then([&] { return std::move(draft).finish(); });
  });
  if (read) return {};
  // Without the line, as the text is not the one that is shown.
  const std::string why = read.error().message();
  return why.substr(why.find(": ") == std::string::npos ? 0 : why.find(": ") + 2);
}

}  // namespace

std::vector<LinkSettings> find_link_settings(const Root& root, const probes::Recipe& recipe,
                                             const probes::RecipeScope& scope,
                                             const Config& config) {
  Collection found;
  bool netplan = false;
  for (const probes::RecipeFile& file : recipe.files)
    for (const probes::RecipeLine& line : file.lines)
      if (may_set_links(file, line))
        netplan |= take_line(line, file.path + ":" + std::to_string(line.number), found);
  if (netplan)
    for (const LinkSettings& link : netplan_links(root)) found.add(link);
  std::vector<LinkSettings>& links = found.links;
  std::erase_if(links, [&](const LinkSettings& link) { return !is_adapter(link.netdev, scope); });
  const auto adapters = probes::find_adapters(root).value_or(std::vector<probes::PciAdapter>{});
  for (LinkSettings& link : links) {
    const auto mac = probes::present_mac(root, link.netdev);
    link.mac = mac ? mac_address(*mac).value_or("") : "";
    drop_configured(config, adapters, link);
  }
  std::erase_if(links,
                [](const LinkSettings& link) { return !link.mtu && link.addresses.empty(); });
  return std::move(links);
}

std::string to_toml(const std::vector<LinkSettings>& links) {
  std::string text, left;
  for (std::size_t at = 0; at < links.size(); ++at) {
    const LinkSettings& link = links[at];
    if (at == kMostLinks) {
      left += "# and " + std::to_string(links.size() - at) + " more interfaces\n";
      break;
    }
    const std::string table = (text.empty() ? "" : "\n") + table_of(link);
    const std::string why =
        link.has_table ? "its table in the configuration lacks " + joined(lines_of(link), " and ")
                       : why_refused(text + table);
    if (why.empty())
      text += table;
    else
      left += "# " + link.netdev + ", " + places_of(link) + ": " + printable(why, 600) + "\n";
  }
  if (left.empty()) return text;
  return text + (text.empty() ? "" : "\n") + "# By hand, as the configuration refuses this:\n" +
         left;
}

}  // namespace pvrdma::ctl::migration
