// ConfigDraft::add(): each key by itself.
#include "agent/config/draft.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "agent/config/duration.hpp"
#include "agent/model/identifiers.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma {

namespace {

using toml_tree::Node;

constexpr std::int64_t kAdaptersMax = 10;  // NICs of a VM
// Below 68 the kernel takes IPv4 off the link (net/ipv4/devinet.c, inetdev_valid_mtu()); 9000 is
// vmxnet3's largest.
constexpr std::int64_t kMtuMin = 68;
constexpr std::int64_t kMtuMax = 9000;

// Calls `read` with the member of that name, if it is there.
template <typename Read>
Result<void> with_member(const Item& table, const char* name, Read read) {
  const auto member = table.member(name);
  return member ? read(*member) : Result<void>{};
}

template <typename Value, std::size_t N>
Result<void> read_word(const Item& item, const std::array<std::pair<const char*, Value>, N>& words,
                       Value& into) {
  std::string rule;
  for (const auto& [word, value] : words) {
    if (item.string() != nullptr && *item.string() == word) {
      into = value;
      return {};
    }
    rule += (rule.empty() ? "must be one of " : ", ") + std::string{word};
  }
  return item.bad(rule);
}

Result<void> read_modules(const Item& list, std::vector<std::string>& into,
                          std::vector<Said>* said) {
  if (!list.is(Node::Kind::Array)) return list.bad("must be a list of module names");
  std::vector<std::string> names;
  std::vector<Said> places;
  for (const Item& item : list.items()) {
    const auto name = item.string() ? module_name(*item.string()) : std::nullopt;
    if (!name) return item.bad("must be a module's name: 1 to 55 letters, digits, \"_\" and \"-\"");
    if (std::count(names.begin(), names.end(), *name) > 0)
      return item.bad("must be listed only once");
    names.push_back(*name);
    places.push_back(item.said());
  }
  into = std::move(names);
  if (said != nullptr) *said = std::move(places);
  return {};
}

Result<void> read_before(const Item& list, std::vector<std::string>& into) {
  if (auto read = read_modules(list, into, nullptr); !read) return read;
  const auto driver = std::find(into.begin(), into.end(), kDriverModule);
  if (driver == into.end()) return {};
  return list.items()[static_cast<std::size_t>(driver - into.begin())].bad(
      "must be a module other than vmw_pvrdma, which is always the last");
}

Result<void> read_modules_table(const Item& table, ConfigDraft& draft) {
  if (auto right = table.expect_table({"before", "required", "reload"}); !right) return right;
  auto& modules = draft.config.modules;
  if (auto read = with_member(table, "before",
                              [&](const Item& item) { return read_before(item, modules.before); });
      !read)
    return read;
  if (auto read = with_member(table, "required",
                              [&](const Item& item) {
                                draft.required_set = true;
                                return read_modules(item, modules.required, &draft.required_said);
                              });
      !read)
    return read;
  static constexpr std::array<std::pair<const char*, ReloadPolicy>, 3> kWords{
      {{"auto", ReloadPolicy::Auto},
       {"always", ReloadPolicy::Always},
       {"never", ReloadPolicy::Never}}};
  return with_member(table, "reload",
                     [&](const Item& item) { return read_word(item, kWords, modules.reload); });
}

Result<void> read_adapter_count(const Item& item, std::optional<unsigned>& into) {
  const auto count = item.integer();
  const bool all = item.string() != nullptr && *item.string() == "all";
  if (!all && (!count || *count < 0 || *count > kAdaptersMax))
    return item.bad("must be \"all\" or a number from 0 to " + std::to_string(kAdaptersMax));
  into = all ? std::nullopt : std::optional{static_cast<unsigned>(*count)};
  return {};
}

// `parse` says what is allowed in code, `rule` in words.
Result<void> read_time(const Item& item, std::optional<Milliseconds> (*parse)(std::string_view),
                       std::string_view rule, Milliseconds& into) {
  const auto time = item.string() ? parse(*item.string()) : std::nullopt;
  if (!time) return item.bad(std::string{rule});
  into = *time;
  return {};
}

Result<void> read_readiness_table(const Item& table, Config::Readiness& readiness) {
  if (auto right = table.expect_table({"adapters", "timeout", "forget_removed"}); !right)
    return right;
  if (auto read = with_member(
          table, "adapters",
          [&](const Item& item) { return read_adapter_count(item, readiness.adapters); });
      !read)
    return read;
  if (auto read = with_member(table, "timeout",
                              [&](const Item& item) {
                                return read_time(item, parse_timeout, kTimeoutRule,
                                                 readiness.timeout);
                              });
      !read)
    return read;
  return with_member(table, "forget_removed", [&](const Item& item) {
    return read_time(item, parse_duration, kDurationRule, readiness.forget_removed);
  });
}

Result<void> read_guestinfo_table(const Item& table, Config::Guestinfo& guestinfo) {
  if (auto right = table.expect_table({"enabled"}); !right) return right;
  return with_member(table, "enabled", [&](const Item& item) -> Result<void> {
    if (!item.boolean()) return item.bad("must be true or false");
    guestinfo.enabled = *item.boolean();
    return {};
  });
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

Result<void> read_match(const Item& adapter, ConfigDraft::Adapter& into) {
  const auto match = adapter.member("match");
  if (!match) return adapter.bad("needs match = { … } with exactly one of mac, pci, netdev");
  if (auto right = match->expect_table({"mac", "pci", "netdev"}); !right) return right;
  for (const MatchKey& key : kMatchKeys) {
    const auto item = match->member(key.name);
    if (!item) continue;
    if (!into.match.empty()) return match->bad("must hold exactly one of mac, pci, netdev");
    const auto value = item->string() ? key.normal(*item->string()) : std::nullopt;
    if (!value) return item->bad(key.rule);
    into.config.match.*key.into = value;
    into.match = std::string{key.name} + "=" + *value;
    into.match_said = item->said();
  }
  if (into.match.empty()) return match->bad("must hold exactly one of mac, pci, netdev");
  return {};
}

Result<void> read_mtu(const Item& item, ConfigDraft::Adapter& into) {
  const auto mtu = item.integer();
  if (!mtu || *mtu < kMtuMin || *mtu > kMtuMax)
    return item.bad("must be a number from " + std::to_string(kMtuMin) + " to " +
                    std::to_string(kMtuMax));
  into.config.mtu = static_cast<unsigned>(*mtu);
  into.mtu_said = item.said();
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

Result<void> read_adapter(const Item& table, ConfigDraft& draft) {
  if (auto right = table.expect_table({"match", "manage", "mtu", "addresses", "gid_type"}); !right)
    return right;
  ConfigDraft::Adapter adapter;
  if (auto read = read_match(table, adapter); !read) return read;
  static constexpr std::array<std::pair<const char*, Manage>, 3> kWords{
      {{"auto", Manage::Auto}, {"agent", Manage::Agent}, {"observe", Manage::Observe}}};
  if (auto read = with_member(
          table, "manage",
          [&](const Item& item) { return read_word(item, kWords, adapter.config.manage); });
      !read)
    return read;
  if (auto read =
          with_member(table, "mtu", [&](const Item& item) { return read_mtu(item, adapter); });
      !read)
    return read;
  if (auto read = with_member(table, "addresses",
                              [&](const Item& item) { return read_addresses(item, adapter); });
      !read)
    return read;
  static constexpr std::array<std::pair<const char*, GidType>, 3> kTypes{
      {{"best", GidType::Best}, {"RoCE v1", GidType::RoceV1}, {"RoCE v2", GidType::RoceV2}}};
  if (auto read = with_member(
          table, "gid_type",
          [&](const Item& item) { return read_word(item, kTypes, adapter.config.gid_type); });
      !read)
    return read;
  draft.adapters.push_back(std::move(adapter));
  return {};
}

Result<void> read_adapters(const Item& list, ConfigDraft& draft) {
  if (!list.is(Node::Kind::Array)) return list.bad("must be written as [[adapter]]");
  for (const Item& table : list.items())
    if (auto read = read_adapter(table, draft); !read) return read;
  return {};
}

}  // namespace

Result<void> ConfigDraft::add(const Node& root, const std::string& file) {
  const Item top{root, file, ""};
  if (auto right = top.expect_table({"modules", "readiness", "guestinfo", "adapter"}); !right)
    return right;
  if (auto read = with_member(top, "modules",
                              [&](const Item& item) { return read_modules_table(item, *this); });
      !read)
    return read;
  if (auto read = with_member(
          top, "readiness",
          [&](const Item& item) { return read_readiness_table(item, config.readiness); });
      !read)
    return read;
  if (auto read = with_member(
          top, "guestinfo",
          [&](const Item& item) { return read_guestinfo_table(item, config.guestinfo); });
      !read)
    return read;
  return with_member(top, "adapter", [&](const Item& item) { return read_adapters(item, *this); });
}

}  // namespace pvrdma
