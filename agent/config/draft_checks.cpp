// SPDX-License-Identifier: GPL-2.0-or-later
// ConfigDraft::finish(): the checks that need all files.
#include <algorithm>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/config/draft.hpp"

namespace pvrdma {

namespace {

// The smallest MTU for IPv6 (RFC 8200, section 5): below it the kernel removes IPv6 from the link.
constexpr unsigned kIpv6MtuMin = 1280;

Result<void> check_required(ConfigDraft& draft) {
  Config::Modules& modules = draft.config.modules;
  if (!draft.required_said) {
    // The default of `required` must not require a module that `before` does not list.
    std::erase_if(modules.required,
                  [&](const std::string& name) { return !contains(modules.before, name); });
    return {};
  }
  for (std::size_t i = 0; i < modules.required.size(); ++i)
    if (!contains(modules.before, modules.required[i]))
      return bad_value((*draft.required_said)[i], "must be one of modules.before (" +
                                                      printable(joined(modules.before), 200) + ")");
  return {};
}

Result<void> check_subnets(const ConfigDraft::Adapter& one, const ConfigDraft::Adapter& earlier) {
  for (const auto& address : one.addresses)
    for (const auto& other : earlier.addresses)
      if (share_subnet(address.value, other.value))
        return bad_value(address.said, "must not share a subnet with " + other.said.value + " of " +
                                           other.said.place +
                                           ": two adapters in one subnet do not work on Linux");
  return {};
}

Result<void> check_ipv6_mtu(const ConfigDraft::Adapter& adapter) {
  const auto& mtu = adapter.keys.mtu;
  const auto ipv6 = std::find_if(adapter.addresses.begin(), adapter.addresses.end(),
                                 [](const auto& address) { return address.value.is_ipv6; });
  if (ipv6 != adapter.addresses.end() && mtu && mtu->bytes < kIpv6MtuMin)
    return bad_value(mtu->said, "must be at least 1280 for the IPv6 address " + ipv6->said.value +
                                    " of " + ipv6->said.place);
  return {};
}

Result<void> check_adapters(const std::vector<ConfigDraft::Adapter>& adapters) {
  for (std::size_t i = 0; i < adapters.size(); ++i) {
    if (auto right = check_ipv6_mtu(adapters[i]); !right) return right;
    for (std::size_t j = 0; j < i; ++j) {
      if (adapters[i].match == adapters[j].match)
        return bad_value(adapters[i].match_said,
                         "must not name the same adapter as " + adapters[j].match_said.place);
      if (auto right = check_subnets(adapters[i], adapters[j]); !right) return right;
    }
  }
  return {};
}

// Key by key: an adapter inherits the keys that it does not set.
void inherit(ConfigDraft::SharedKeys& own, const ConfigDraft::SharedKeys& every) {
  if (!own.manage) own.manage = every.manage;
  if (!own.mtu) own.mtu = every.mtu;
  if (!own.gid_type) own.gid_type = every.gid_type;
}

AdapterConfig config_of(const ConfigDraft::SharedKeys& keys) {
  AdapterConfig config;
  config.manage = keys.manage.value_or(config.manage);
  if (keys.mtu) config.mtu = keys.mtu->bytes;
  config.gid_type = keys.gid_type.value_or(config.gid_type);
  return config;
}

}  // namespace

Result<Config> ConfigDraft::finish() && {
  if (auto right = check_required(*this); !right) return fail(std::move(right.error()));
  for (Adapter& adapter : adapters) inherit(adapter.keys, every_adapter);
  if (auto right = check_adapters(adapters); !right) return fail(std::move(right.error()));
  config.every_adapter = config_of(every_adapter);
  for (Adapter& adapter : adapters) {
    AdapterConfig& one = config.adapters.emplace_back(config_of(adapter.keys));
    one.match = std::move(adapter.match);
    for (Address& address : adapter.addresses)
      one.addresses.push_back(std::move(address.value.text));
  }
  return std::move(config);
}

}  // namespace pvrdma
