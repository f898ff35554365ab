// ConfigDraft::add_adapters(): the keys of [[adapter]], each by itself.
#include <array>
#include <utility>

#include "agent/config/draft.hpp"
#include "agent/config/member.hpp"
#include "agent/model/identifiers.hpp"

namespace pvrdma {

namespace {

using toml_tree::Node;

// Below 68 the kernel takes IPv4 off the link (net/ipv4/devinet.c, inetdev_valid_mtu()); 9000 is
// vmxnet3's largest.
constexpr std::int64_t kMtuMin = 68;
constexpr std::int64_t kMtuMax = 9000;

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

constexpr const char* kOneKey = "must hold exactly one of mac, pci, netdev";

Result<void> read_match(const Item& match, ConfigDraft::Adapter& into) {
  if (auto right = match.expect_table({"mac", "pci", "netdev"}); !right) return right;
  if (match.items().size() != 1) return match.bad(kOneKey);
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
  if (!mtu || *mtu < kMtuMin || *mtu > kMtuMax)
    return item.bad("must be a number from " + std::to_string(kMtuMin) + " to " +
                    std::to_string(kMtuMax));
  into = {static_cast<unsigned>(*mtu), item.said()};
  return {};
}

Result<void> read_addresses(const Item& list, ConfigDraft::Adapter& into) {
  if (!list.is(Node::Kind::Array)) return list.bad("must be a list of addresses");
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

// What may stand with and without match.
Result<void> read_shared(const Item& table, ConfigDraft::SharedKeys& into) {
  static constexpr std::array<std::pair<const char*, Manage>, 3> kWords{
      {{"auto", Manage::Auto}, {"agent", Manage::Agent}, {"observe", Manage::Observe}}};
  if (auto read = with_member(
          table, "manage",
          [&](const Item& item) { return read_word(item, kWords, into.manage.emplace()); });
      !read)
    return read;
  if (auto read =
          with_member(table, "mtu", [&](const Item& item) { return read_mtu(item, into.mtu); });
      !read)
    return read;
  static constexpr std::array<std::pair<const char*, GidType>, 3> kTypes{
      {{"best", GidType::Best}, {"RoCE v1", GidType::RoceV1}, {"RoCE v2", GidType::RoceV2}}};
  return with_member(table, "gid_type", [&](const Item& item) {
    return read_word(item, kTypes, into.gid_type.emplace());
  });
}

Result<void> read_adapter(const Item& table, ConfigDraft::Adapter& into) {
  if (auto read = read_match(*table.member("match"), into); !read) return read;
  if (auto read = read_shared(table, into.keys); !read) return read;
  return with_member(table, "addresses",
                     [&](const Item& item) { return read_addresses(item, into); });
}

// An [[adapter]] without match.
Result<void> read_every_adapter(const Item& table, ConfigDraft::SharedKeys& into) {
  if (const auto addresses = table.member("addresses"))
    return addresses->bad(
        "needs match = { … } beside it, with exactly one of mac, pci, netdev; without match, for "
        "every adapter, only mtu, manage and gid_type are allowed");
  return read_shared(table, into);
}

}  // namespace

Result<void> ConfigDraft::add_adapters(const Item& list) {
  if (!list.is(Node::Kind::Array)) return list.bad("must be written as [[adapter]]");
  std::optional<Place> every_adapter_at;
  for (const Item& table : list.items()) {
    if (auto right = table.expect_table({"match", "manage", "mtu", "addresses", "gid_type"});
        !right)
      return right;
    if (table.member("match")) {
      if (auto read = read_adapter(table, adapters.emplace_back()); !read) return read;
      continue;
    }
    if (every_adapter_at)
      return table.bad("must be the only [[adapter]] without match of this file; another is at " +
                       every_adapter_at->text());
    every_adapter_at = table.place();
    if (auto read = read_every_adapter(table, every_adapter); !read) return read;
  }
  return {};
}

}  // namespace pvrdma
