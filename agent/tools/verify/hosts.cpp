// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/hosts.hpp"

#include <algorithm>
#include <cerrno>

#include "agent/base/format.hpp"
#include "agent/base/text.hpp"
#include "agent/tools/survey/host_paste.hpp"

namespace pvrdma::verify {

namespace {

// The last one, where an adapter was pasted twice. Null: the adapter was not pasted.
const AdapterProperties* find(const std::vector<AdapterProperties>& properties,
                              const std::string& mac) {
  const auto at = std::find_if(properties.rbegin(), properties.rend(),
                               [&](const AdapterProperties& one) { return one.mac == mac; });
  return mac.empty() || at == properties.rend() ? nullptr : &*at;
}

std::string told(const AdapterProperties* adapter, const char* whose, const std::string& mac) {
  if (mac.empty())
    return formatted("The MAC address of {} is not known, so its properties are not found.", whose);
  if (adapter == nullptr)
    return formatted("The pasted properties lack {} ({}).", whose, printable(mac));
  return formatted("The host{} {} NIC with RDMA for {} ({}).",
                   adapter->host.empty() ? "" : " " + printable(adapter->host),
                   !adapter->physical_hca   ? "does not say whether it has a"
                   : *adapter->physical_hca ? "has a"
                                            : "has no",
                   whose, mac);
}

enum class NameForm { Address, Short, Whole };

NameForm form_of(std::string_view host) {
  if (host.find_first_not_of("0123456789.") == std::string_view::npos || has_part(host, ":"))
    return NameForm::Address;
  return has_part(host, ".") ? NameForm::Whole : NameForm::Short;
}

// Prompts have a short name; ssh may be given that, the whole name or an address.
std::optional<bool> is_same_host(const std::string& left, const std::string& right) {
  if (left == right) return true;
  const NameForm one = form_of(left), other = form_of(right);
  if (one == other) return false;
  if (one == NameForm::Address || other == NameForm::Address) return std::nullopt;
  const auto first = [](const std::string& name) { return name.substr(0, name.find('.')); };
  return first(left) == first(right) ? std::nullopt : std::optional{false};
}

std::optional<bool> are_one(const AdapterProperties& own, const AdapterProperties& peer) {
  if (!is_host_name(own.host) || !is_host_name(peer.host)) return std::nullopt;
  const auto same = is_same_host(lower(own.host), lower(peer.host));
  // One command above both means that only the first is known to be from that host.
  return same == true && own.node == peer.node ? std::nullopt : same;
}

std::optional<bool> have_nics(const AdapterProperties* own, const AdapterProperties* peer) {
  for (const AdapterProperties* one : {own, peer})
    if (one != nullptr && one->physical_hca == false) return false;
  for (const AdapterProperties* one : {own, peer})
    if (one == nullptr || !one->physical_hca) return std::nullopt;
  return true;
}

}  // namespace

Result<std::vector<AdapterProperties>> read_host_properties(const std::string& path) {
  const auto text = read_paste(path);
  if (!text) return fail(text.error());
  auto properties = adapter_properties(*text);
  if (properties.empty())
    return fail(ENODATA, "reading the properties of PVRDMA adapters from", path);
  return properties;
}

Hosts hosts_of(const std::vector<AdapterProperties>& properties, const std::string& own_mac,
               const std::string& peer_mac) {
  Hosts hosts;
  if (properties.empty()) return hosts;
  const AdapterProperties* own = find(properties, own_mac);
  const AdapterProperties* peer = find(properties, peer_mac);
  hosts.reasons = {told(own, "this adapter", own_mac), told(peer, "the peer's adapter", peer_mac)};
  hosts.have_nics = have_nics(own, peer);
  if (own == nullptr || peer == nullptr) return hosts;
  hosts.are_one = are_one(*own, *peer);
  if (!hosts.are_one)
    hosts.reasons.emplace_back(
        "The paste does not tell whether that is one host: copy the prompts as well, which name "
        "the hosts.");
  return hosts;
}

}  // namespace pvrdma::verify
