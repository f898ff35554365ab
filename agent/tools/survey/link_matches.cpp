// SPDX-License-Identifier: GPL-2.0-or-later
// Decides which links a network manager's file matches: text in, value out.
#include <fnmatch.h>

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/tools/survey/link_files.hpp"

namespace pvrdma::probes {

namespace {

bool fits(const std::string& pattern, const std::string& text) {
  return !text.empty() && ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

// MAC addresses are written with colons, dashes or dots, in either case.
std::string bare_mac(std::string_view mac) {
  std::string digits;
  for (const char letter : lower(mac))
    if (is_hex(letter)) digits += letter;
  return digits;
}

bool same_mac(std::string_view one, const std::string& mac) {
  return !mac.empty() && bare_mac(one) == bare_mac(mac);
}

// Matches a list of patterns as systemd does (net_condition_test_strv() in its source): a pattern
// with "!" that fits excludes the text; of the others one must fit, if there is any.
Match one_of_patterns(std::string_view list, const std::string& text) {
  bool found = false, any_negated = false, any_other = false;
  while (!list.empty()) {
    std::string_view pattern = cut(list, ' ');
    if (pattern.empty()) continue;
    const bool negated = pattern.starts_with('!');
    if (negated) pattern.remove_prefix(1);
    const bool fit = fits(std::string{pattern}, text);
    if (negated && fit) return Match::No;
    (negated ? any_negated : any_other) = true;
    found = found || fit;
  }
  return found || (any_negated && !any_other) ? Match::Yes : Match::No;
}

// The same for a name that may not be known.
Match any_of_patterns(std::string_view list, const std::string& text) {
  return text.empty() ? Match::Maybe : one_of_patterns(list, text);
}

Match any_of_macs(std::string_view list, const std::string& mac) {
  if (mac.empty()) return Match::Maybe;
  while (!list.empty())
    if (same_mac(cut(list, ' '), mac)) return Match::Yes;
  return Match::No;
}

// The conditions of [Match], each with a key of its own: systemd joins the lists of a repeated key,
// and an empty value clears the list. A "!" before the first word negates each word of its line.
std::vector<Setting> conditions_of(const std::vector<Setting>& settings) {
  std::vector<Setting> conditions;
  for (const Setting& one : settings) {
    if (one.section != "Match") continue;
    auto same = std::ranges::find(conditions, one.key, &Setting::key);
    if (same == conditions.end()) same = conditions.insert(same, {one.section, one.key, "", 0});
    if (one.value.empty()) same->value.clear();
    std::string_view words = one.value;
    const char* const before = words.starts_with('!') ? " !" : " ";
    words.remove_prefix(words.starts_with('!') ? 1 : 0);
    while (!words.empty())
      if (const std::string word{cut(words, ' ')}; !word.empty()) same->value += before + word;
  }
  std::erase_if(conditions, [](const Setting& one) { return one.value.empty(); });
  return conditions;
}

// Matches one condition of [Match]. An adapter's link is a plain Ethernet interface of vmxnet3.
Match match_condition(const Setting& one, const LinkNames& link) {
  if (one.key == "Name" || one.key == "OriginalName")
    return any_of_patterns(one.value, link.netdev);
  if (one.key == "MACAddress" || one.key == "PermanentMACAddress")
    return any_of_macs(one.value, link.mac);
  if (one.key == "Driver") return any_of_patterns(one.value, kNetModule);
  if (one.key == "Type") return any_of_patterns(one.value, "ether");
  // Only virtual interfaces have a kind; "!*" excludes them all.
  if (one.key == "Kind") return one_of_patterns(one.value, "");
  if (one.key == "WLANInterfaceType" || one.key == "SSID" || one.key == "BSSID") return Match::No;
  return Match::Maybe;
}

// The words that NetworkManager reads as false (svParseBoolean() of its ifcfg-rh plugin): "off" is
// not one.
bool is_no(std::string_view value) { return lower(value) != "off" && boolean_from(value) == false; }

// Adds it in lower case with colons; what is no MAC address is left out.
void add_mac(std::string_view text, std::vector<std::string>& macs) {
  constexpr std::size_t kDigits = 12;
  std::string mac = bare_mac(text);
  if (mac.size() != kDigits) return;
  for (std::size_t at = 2; at < mac.size(); at += 3) mac.insert(at, 1, ':');
  macs.push_back(std::move(mac));
}

// The place of a key in a file. The keys of its mapping lie deeper.
struct NetplanPlace {
  std::size_t braces = 0, indent = 0;

  [[nodiscard]] bool no_deeper_than(const NetplanPlace& other) const {
    return std::tie(braces, indent) <= std::tie(other.braces, other.indent);
  }
};

// Keys in turn. An id counts until a `match` in its mapping takes its place.
class NetplanReader {
 public:
  explicit NetplanReader(const LinkNames& link) : link_(link) {}

  void take(const NetplanPlace& place, const std::string& key, const std::string& value) {
    if (named_ && place.no_deeper_than(*named_)) close_named();
    if (entry_ && !entry_->place.no_deeper_than(place)) close_entry();
    if (!below_network_ && key != "network") below_network_ = place;
    if (key == "renderer")
      (place.no_deeper_than(*below_network_) ? file_.renderer_of_all : file_.renderer) =
          value == "NetworkManager" ? LinkManager::NetworkManager : LinkManager::Networkd;
    if (entry_ && !place.no_deeper_than(entry_->place)) {
      if (entry_->in_match) narrow(key, value);
    } else if (key == "match" || key == "set-name") {
      if (!entry_) entry_ = Entry{place};
      take_beside(key, value);
    } else if (entry_) {
      entry_->in_match = false;
    } else if (!link_.netdev.empty() && key == link_.netdev) {
      named_ = place;
    }
  }

  NetplanFile finish() {
    close_entry();
    close_named();
    return std::move(file_);
  }

 private:
  // The mapping of an id that has a `match` or a `set-name`.
  struct Entry {
    NetplanPlace place;            // of these two keys
    bool in_match = false;         // deeper keys are those of `match`
    bool renamed = false;          // `set-name` is the present name, which fulfils `name`
    std::optional<Match> match{};  // by all that `match` holds but `name`; none: no `match` yet
    Match name = Match::Yes;
  };

  void close_named() {
    if (named_) file_.match = Match::Yes;
    named_.reset();
  }

  void close_entry() {
    if (entry_ && entry_->match)
      file_.match = std::max(file_.match,
                             std::min(*entry_->match, entry_->renamed ? Match::Yes : entry_->name));
    entry_.reset();
  }

  void take_beside(const std::string& key, const std::string& value) {
    entry_->in_match = key == "match";
    if (entry_->in_match) {
      named_.reset();
      entry_->match = Match::Yes;
    } else {
      entry_->renamed = value == link_.netdev;
    }
  }

  // All that a `match` holds must fit.
  void narrow(const std::string& key, const std::string& value) {
    if (key == "name") {
      entry_->name = any_of_patterns(value, link_.netdev);
      return;
    }
    Match match = Match::Maybe;
    if (key == "macaddress") {
      add_mac(value, file_.macs);
      match = any_of_macs(value, link_.mac);
    } else if (key == "driver" && !value.empty() && !value.starts_with('[')) {
      match = any_of_patterns(value, kNetModule);  // a list is not read, and leaves it open
    }
    entry_->match = std::min(*entry_->match, match);
  }

  const LinkNames& link_;
  NetplanFile file_;
  std::optional<NetplanPlace> named_;  // of an id that is the interface's name
  std::optional<Entry> entry_;
  std::optional<NetplanPlace> below_network_;  // of "version", "renderer" or "ethernets"
};

}  // namespace

std::string bare_value(std::string_view text) {
  text = trimmed(text);
  if (text.size() > 1 && (text.front() == '"' || text.front() == '\'') &&
      text.back() == text.front())
    text = text.substr(1, text.size() - 2);
  return std::string{text};
}

Match match_network(const std::vector<Setting>& settings, const LinkNames& link) {
  const auto conditions = conditions_of(settings);
  // systemd ignores a file without [Match].
  Match all = conditions.empty() ? Match::No : Match::Yes;
  for (const Setting& one : conditions) all = std::min(all, match_condition(one, link));
  return all;
}

Match match_keyfile(const std::vector<Setting>& settings, const LinkNames& link) {
  const std::string type = value_of(settings, "connection", "type");
  if (type != "ethernet" && type != "802-3-ethernet") return Match::No;
  if (is_no(value_of(settings, "connection", "autoconnect"))) return Match::No;
  Match all = Match::Yes;
  const auto both = [&](Match one) { all = std::min(all, one); };
  if (const std::string* name = find_setting(settings, "connection", "interface-name"))
    both(link.netdev.empty() ? Match::Maybe : *name == link.netdev ? Match::Yes : Match::No);
  for (const char* section : {"ethernet", "802-3-ethernet"})
    if (const std::string* mac = find_setting(settings, section, "mac-address"))
      both(any_of_macs(*mac, link.mac));
  for (const Setting& one : settings)
    if (one.section == "match") both(Match::Maybe);
  return all;
}

Match match_ifcfg(const std::vector<Setting>& settings, const LinkNames& link) {
  const auto value = [&](const char* key) { return ifcfg_value(value_of(settings, "", key)); };
  if (is_no(value("ONBOOT")) || is_no(value("NM_CONTROLLED"))) return Match::No;
  const std::string device = value("DEVICE");
  const std::string mac = value("HWADDR");
  if (device.empty() && mac.empty()) return Match::Maybe;
  Match all = Match::Yes;
  if (!device.empty())
    all = link.netdev.empty() ? Match::Maybe : device == link.netdev ? Match::Yes : Match::No;
  return mac.empty() ? all : std::min(all, any_of_macs(mac, link.mac));
}

std::vector<std::string> macs_of(const std::vector<Setting>& settings) {
  std::vector<std::string> macs;
  for (const Setting& one : settings) {
    const bool of_network = one.section == "Match" && one.key.ends_with("MACAddress");
    const bool of_keyfile = one.section.ends_with("ethernet") && one.key == "mac-address";
    const bool of_ifcfg = one.section.empty() && one.key == "HWADDR";
    if (!of_network && !of_keyfile && !of_ifcfg) continue;
    const std::string list = of_ifcfg ? ifcfg_value(one.value) : one.value;
    for (std::string_view rest = list; !rest.empty();) add_mac(cut(rest, ' '), macs);
  }
  return macs;
}

NetplanFile match_netplan(std::string_view text, const LinkNames& link) {
  NetplanReader reader{link};
  NetplanPlace place;
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    line = line.substr(0, std::min(line.find(" #"), line.size()));
    place.indent = line.find_first_not_of(" \t");
    // A flow mapping, {name: "en*"}, is split as if each pair had a line of its own.
    while (!line.empty()) {
      const auto end = std::min(line.find_first_of("{},"), line.size());
      const std::string_view pair = line.substr(0, end);
      const char after = end < line.size() ? line[end] : ',';
      line.remove_prefix(std::min(end + 1, line.size()));
      if (bare_value(pair).starts_with('#')) break;
      // A MAC address has colons as well: the pair is split at the first colon with a blank or
      // nothing after it.
      const auto colon = std::min(pair.find(": "), pair.find(':', pair.find_last_not_of(" \t\r")));
      if (colon != std::string_view::npos)
        reader.take(place, bare_value(pair.substr(0, colon)), bare_value(pair.substr(colon + 1)));
      if (after == '{') ++place.braces;
      if (after == '}' && place.braces > 0) --place.braces;
    }
  }
  return reader.finish();
}

}  // namespace pvrdma::probes
