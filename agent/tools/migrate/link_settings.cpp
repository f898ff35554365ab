#include "agent/tools/migrate/link_settings.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/model/adapter_match.hpp"
#include "agent/model/address.hpp"
#include "agent/model/identifiers.hpp"
#include "agent/tools/migrate/netplan.hpp"
#include "probes/recipe/command.hpp"

namespace pvrdma::ctl::moving {

namespace {

using probes::LineKind;
using Words = std::vector<std::string_view>;

// The number of leading ones of "255.255.255.0"; none: it is no netmask.
std::optional<unsigned> prefix_of(std::string_view netmask) {
  std::uint32_t bits = 0;
  for (int part = 0; part < 4; ++part) {
    const auto number = number_from<std::uint8_t>(cut(netmask, '.'));
    if (!number) return std::nullopt;
    bits = bits << 8U | *number;
  }
  unsigned prefix = 0;
  for (; (bits & 0x80000000U) != 0; bits <<= 1U) ++prefix;
  return bits == 0 && netmask.empty() ? std::optional{prefix} : std::nullopt;
}

// The word after `name`; empty: there is none.
std::string_view after(const Words& words, std::string_view name) {
  const auto found = std::find(words.begin(), words.end(), name);
  return found == words.end() || found + 1 == words.end() ? std::string_view{} : found[1];
}

LinkSettings of_ip(const Words& words) {
  LinkSettings link;
  link.netdev = after(words, "dev");
  if (probes::holds(words, "set") && link.netdev.empty()) link.netdev = after(words, "set");
  link.mtu = number_from<unsigned>(after(words, "mtu"));
  if (probes::holds(words, "add") || probes::holds(words, "replace"))
    for (const std::string_view word : words)
      if (word.find('/') != std::string_view::npos && parse_interface_address(word))
        link.addresses.emplace_back(word);
  return link;
}

// ifconfig NETDEV [ADDRESS[/BITS]] [netmask MASK] [mtu N]
LinkSettings of_ifconfig(const Words& words) {
  LinkSettings link;
  if (words.size() < 2) return link;
  link.netdev = words[0];
  link.mtu = number_from<unsigned>(after(words, "mtu"));
  std::string address{words[1]};
  if (const auto prefix = prefix_of(after(words, "netmask")))
    address += "/" + std::to_string(*prefix);
  if (parse_interface_address(address)) link.addresses.push_back(address);
  return link;
}

class Collector {
 public:
  explicit Collector(const probes::RecipeScope& scope) : scope_(scope) {}

  // Of adapters only, and only what a configuration may have.
  void add(LinkSettings link, const std::string& from) {
    constexpr unsigned kLeast = 68, kMost = 9000;  // bytes, as adapter.mtu
    if (link.mtu && (*link.mtu < kLeast || *link.mtu > kMost)) link.mtu.reset();
    if (!link.mtu && link.addresses.empty()) return;
    if (netdev_name(link.netdev) != link.netdev || probes::words_in(link.netdev).size() != 1)
      return;
    const bool ours = scope_.netdevs.empty() ||
                      std::find(scope_.netdevs.begin(), scope_.netdevs.end(), link.netdev) !=
                          scope_.netdevs.end();
    if (!ours) return;
    auto known = std::find_if(links.begin(), links.end(),
                              [&](const auto& one) { return one.netdev == link.netdev; });
    if (known == links.end()) {
      links.push_back({link.netdev, {}, {}, {}, {}, {}});
      known = links.end() - 1;
    }
    if (link.mtu) known->mtu = link.mtu;
    for (std::string& address : link.addresses)
      if (std::find(known->addresses.begin(), known->addresses.end(), address) ==
          known->addresses.end())
        known->addresses.push_back(std::move(address));
    known->from.push_back(from);
    known->netplan.insert(known->netplan.end(), link.netplan.begin(), link.netplan.end());
  }

  std::vector<LinkSettings> links;

 private:
  const probes::RecipeScope& scope_;
};

// True: the line applies netplan's files.
bool take_line(const probes::RecipeLine& line, const std::string& from, Collector& into) {
  bool netplan = false;
  for (const std::string& command : probes::commands_in(probes::without_comment(line.text))) {
    if (command.find('$') != std::string::npos) continue;
    const Words words = probes::words_in(command);
    for (auto at = words.begin(); at != words.end(); ++at) {
      const Words rest{at + 1, words.end()};
      const std::string_view tool = probes::base_name(*at);
      if (tool == "ip") into.add(of_ip(rest), from);
      if (tool == "ifconfig") into.add(of_ifconfig(rest), from);
      netplan = netplan || (tool == "netplan" && probes::holds(rest, "apply"));
    }
  }
  return netplan;
}

void drop_configured(const Config& config, LinkSettings& link) {
  AdapterNames names;
  names.netdev = link.netdev;
  if (!link.mac.empty()) names.mac = link.mac;
  const AdapterConfig& adapter = *find_config(config, names).value_or(&config.every_adapter);
  if (adapter.mtu == link.mtu) link.mtu.reset();
  std::erase_if(link.addresses, [&](const std::string& address) {
    return std::find(adapter.addresses.begin(), adapter.addresses.end(), address) !=
           adapter.addresses.end();
  });
}

}  // namespace

std::vector<LinkSettings> find_link_settings(const Root& root, const probes::Recipe& recipe,
                                             const probes::RecipeScope& scope,
                                             const Config& config) {
  Collector found{scope};
  bool netplan = false;
  for (const probes::RecipeFile& file : recipe.files)
    for (const probes::RecipeLine& line : file.lines)
      if (probes::runs_at_boot(file) && line.kind == LineKind::Link)
        netplan |= take_line(line, file.path + ":" + std::to_string(line.number), found);
  if (netplan)
    for (NetplanLink& one : netplan_links(root))
      found.add({std::move(one.netdev), {}, one.mtu, std::move(one.addresses), {}, {one.file}},
                one.file + ":" + std::to_string(one.line));
  for (LinkSettings& link : found.links) {
    const auto mac = read_attribute(root / ("/sys/class/net/" + link.netdev + "/address"));
    link.mac = mac ? mac_address(*mac).value_or("") : "";
    drop_configured(config, link);
  }
  std::erase_if(found.links,
                [](const LinkSettings& link) { return !link.mtu && link.addresses.empty(); });
  return std::move(found.links);
}

std::string to_toml(const std::vector<LinkSettings>& links) {
  std::string text;
  for (const LinkSettings& link : links) {
    text += (text.empty() ? "" : "\n") + std::string{"[[adapter]]  # in place of "} +
            joined(link.from) + "\n";
    text += "match = { netdev = \"" + link.netdev + "\" }" +
            (link.mac.empty() ? "" : "  # mac = \"" + link.mac + "\"") + "\n";
    if (link.mtu) text += "mtu = " + std::to_string(*link.mtu) + "\n";
    if (!link.addresses.empty())
      text += "addresses = [\"" + joined(link.addresses, "\", \"") + "\"]\n";
  }
  return text;
}

}  // namespace pvrdma::ctl::moving
