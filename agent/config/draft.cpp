// SPDX-License-Identifier: GPL-2.0-or-later
// ConfigDraft::add(): checks each key by itself. draft_checks.cpp checks the keys together.
#include "agent/config/draft.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/config/duration.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma {

namespace {

using toml_tree::Node;

constexpr std::int64_t kAdaptersMax = 10;  // the most NICs of a VM
// For an adapter; a request to the executor has at most 16 KiB.
constexpr std::size_t kAddressesMax = 64;

Result<void> read_modules(const Item& list, std::vector<std::string>& into,
                          std::vector<SourceValue>& said) {
  if (!list.is(Node::Kind::Array)) return list.bad("must be a list of module names");
  into.clear();
  for (const Item& item : list.items()) {
    const auto name = item.string() ? module_name(*item.string()) : std::nullopt;
    if (!name) return item.bad("must be a module's name: 1 to 55 letters, digits, \"_\" and \"-\"");
    if (contains(into, *name)) return item.bad("must be listed only once");
    into.push_back(*name);
    said.push_back(item.said());
  }
  return {};
}

Result<void> read_before(const Item& list, std::vector<std::string>& into) {
  std::vector<SourceValue> said;
  if (auto read = read_modules(list, into, said); !read) return read;
  const auto driver = std::find(into.begin(), into.end(), kDriverModule);
  if (driver == into.end()) return {};
  return bad_value(said[static_cast<std::size_t>(driver - into.begin())],
                   "must be a module other than vmw_pvrdma, which is always the last");
}

Result<void> read_modules_table(const Item& table, ConfigDraft& draft) {
  auto& modules = draft.config.modules;
  return read_table(
      table, {{"before", [&](const Item& item) { return read_before(item, modules.before); }},
              {"required",
               [&](const Item& item) {
                 return read_modules(item, modules.required, draft.required_said.emplace());
               }},
              {"reload", [&](const Item& item) { return read_word(item, modules.reload); }}});
}

Result<void> read_adapter_count(const Item& item, std::optional<unsigned>& into) {
  const auto count = item.integer();
  const bool all = item.string() != nullptr && *item.string() == "all";
  if (!all && (!count || *count < 0 || *count > kAdaptersMax))
    return item.bad("must be \"all\" or a number from 0 to " + std::to_string(kAdaptersMax));
  into = all ? std::nullopt : std::optional{static_cast<unsigned>(*count)};
  return {};
}

// `parse` is the rule as code, `rule` its text.
Result<void> read_time(const Item& item, std::optional<Milliseconds> (*parse)(std::string_view),
                       const char* rule, Milliseconds& into) {
  const auto time = item.string() ? parse(*item.string()) : std::nullopt;
  if (!time) return item.bad(rule);
  into = *time;
  return {};
}

Result<void> read_readiness_table(const Item& table, Config::Readiness& readiness) {
  return read_table(
      table,
      {{"adapters", [&](const Item& item) { return read_adapter_count(item, readiness.adapters); }},
       {"timeout",
        [&](const Item& item) {
          return read_time(item, parse_timeout, kTimeoutRule, readiness.timeout);
        }},
       {"forget_removed", [&](const Item& item) {
          return read_time(item, parse_duration, kDurationRule, readiness.forget_removed);
        }}});
}

Result<void> read_enabled(const Item& item, std::optional<bool>& into) {
  if (!item.boolean()) return item.bad("must be true or false");
  into = item.boolean();
  return {};
}

struct MatchKey {
  const char* name;
  std::optional<std::string> (*normal)(std::string_view);
  const char* rule;
  std::optional<std::string> AdapterMatch::*into;
};
constexpr std::array<MatchKey, 3> kMatchKeys{
    {{"mac", mac_address, "must be a MAC address, such as \"00:50:56:8a:9f:c2\"",
      &AdapterMatch::mac},
     {"pci", pci_address, "must be a PCI address, such as \"0000:13:00.1\"", &AdapterMatch::pci},
     {"netdev", netdev_name, "must be a network interface's name, such as \"ens224f0\"",
      &AdapterMatch::netdev}}};

Result<void> read_match(const Item& match, ConfigDraft::Adapter& into) {
  if (auto right = match.expect_table({"mac", "pci", "netdev"}); !right) return right;
  if (match.items().size() != 1) return match.bad("must hold exactly one of mac, pci, netdev");
  for (const MatchKey& key : kMatchKeys) {
    const auto item = match.member(key.name);
    if (!item) continue;
    const auto value = item->string() ? key.normal(*item->string()) : std::nullopt;
    if (!value) return item->bad(key.rule);
    into.match.*key.into = value;
    into.match_said = item->said();
  }
  return {};
}

Result<void> read_mtu(const Item& item, std::optional<ConfigDraft::Mtu>& into) {
  const auto mtu = item.integer();
  if (!mtu || *mtu < kAdapterMtuMin || *mtu > kAdapterMtuMax)
    return item.bad("must be a number from " + std::to_string(kAdapterMtuMin) + " to " +
                    std::to_string(kAdapterMtuMax));
  into = {static_cast<unsigned>(*mtu), item.said()};
  return {};
}

Result<void> read_addresses(const Item& list, ConfigDraft::Adapter& into) {
  if (!list.is(Node::Kind::Array) || list.items().size() > kAddressesMax)
    return list.bad("must be a list of at most " + std::to_string(kAddressesMax) + " addresses");
  for (const Item& item : list.items()) {
    if (item.string() == nullptr) return item.bad("must be an address in quotes");
    auto address = parse_interface_address(*item.string());
    if (!address) return item.bad(address.error().what);
    for (const auto& other : into.addresses)
      if (other.value.is_ipv6 == address->is_ipv6 && other.value.bytes == address->bytes)
        return item.bad("must be listed only once");
    into.addresses.push_back({std::move(*address), item.said()});
  }
  return {};
}

// The keys that are allowed with and without match.
Result<void> read_shared(const Item& table, ConfigDraft::SharedKeys& into) {
  return read_members(
      table,
      {{"manage", [&](const Item& item) { return read_word(item, into.manage.emplace()); }},
       {"mtu", [&](const Item& item) { return read_mtu(item, into.mtu); }},
       {"gid_type", [&](const Item& item) { return read_word(item, into.gid_type.emplace()); }}});
}

Result<void> read_adapter(const Item& table, ConfigDraft::Adapter& into) {
  if (auto read = read_match(*table.member("match"), into); !read) return read;
  if (auto read = read_shared(table, into.keys); !read) return read;
  const auto addresses = table.member("addresses");
  return addresses ? read_addresses(*addresses, into) : Result<void>{};
}

// Reads an [[adapter]] without match.
Result<void> read_every_adapter(const Item& table, ConfigDraft::SharedKeys& into) {
  if (const auto addresses = table.member("addresses"))
    return addresses->bad(
        "needs match = { … } beside it, with exactly one of mac, pci, netdev; without match, for "
        "every adapter, only mtu, manage and gid_type are allowed");
  return read_shared(table, into);
}

Result<void> read_adapters(const Item& list, ConfigDraft& draft) {
  if (!list.is(Node::Kind::Array)) return list.bad("must be written as [[adapter]]");
  std::optional<std::string> every_adapter_at;
  for (const Item& table : list.items()) {
    if (auto right = table.expect_table({"match", "manage", "mtu", "addresses", "gid_type"});
        !right)
      return right;
    if (table.member("match")) {
      if (auto read = read_adapter(table, draft.adapters.emplace_back()); !read) return read;
      continue;
    }
    if (every_adapter_at)
      return table.bad("must be the only [[adapter]] without match of this file; another is at " +
                       *every_adapter_at);
    every_adapter_at = table.place();
    if (auto read = read_every_adapter(table, draft.every_adapter); !read) return read;
  }
  return {};
}

}  // namespace

Result<void> ConfigDraft::add(const Node& root, const std::string& file) {
  return read_table(
      Item{root, file, ""},
      {{"modules", [&](const Item& item) { return read_modules_table(item, *this); }},
       {"readiness",
        [&](const Item& item) { return read_readiness_table(item, config.readiness); }},
       {"guestinfo",
        [&](const Item& table) {
          return read_table(table, {{"enabled", [&](const Item& item) {
                                       return read_enabled(item, config.guestinfo.enabled);
                                     }}});
        }},
       {"adapter", [&](const Item& item) { return read_adapters(item, *this); }}});
}

}  // namespace pvrdma
