// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/model/adapter_match.hpp"

#include <cerrno>

namespace pvrdma {

namespace {

Field<std::string> of_netdev(const Field<Netdev>& netdev, std::string Netdev::*value) {
  if (const Error* error = netdev.error()) return Field<std::string>::unreadable(*error);
  return netdev.is_known() ? Field<std::string>{netdev.get()->*value} : Field<std::string>{};
}

Field<std::string> permanent_mac_of(const Field<Netdev>& netdev) {
  auto mac = of_netdev(netdev, &Netdev::permanent_mac);
  return mac.is("") ? Field<std::string>{} : mac;
}

// The error that hides whether the table matches; null: every name that the table uses is known.
const Error* undecided(const AdapterMatch& match, const AdapterNames& names) {
  if (match.mac) return names.mac.is_unreadable() ? names.mac.error() : names.permanent_mac.error();
  return match.netdev ? names.netdev.error() : nullptr;
}

}  // namespace

AdapterNames names_of(const Adapter& adapter) {
  return {adapter.function, adapter.net_function, of_netdev(adapter.netdev, &Netdev::name),
          of_netdev(adapter.netdev, &Netdev::mac), permanent_mac_of(adapter.netdev)};
}

bool matches(const AdapterMatch& match, const AdapterNames& names) {
  if (match.mac) return names.mac.is(*match.mac) || names.permanent_mac.is(*match.mac);
  if (match.netdev) return names.netdev.is(*match.netdev);
  return match.pci && (*match.pci == names.function || *match.pci == names.net_function);
}

Result<const AdapterConfig*> find_config(const Config& config, const AdapterNames& names) {
  const AdapterConfig* found = nullptr;
  for (const AdapterConfig& entry : config.adapters) {
    if (const Error* error = undecided(entry.match, names); error != nullptr && found == nullptr)
      return fail(*error);
    if (!matches(entry.match, names)) continue;
    if (found != nullptr && found->match.mac && entry.match.mac) {
      if (names.permanent_mac.is(*entry.match.mac)) found = &entry;
      continue;
    }
    if (found != nullptr)
      return fail(EEXIST, "choosing between the [[adapter]] tables",
                  to_string(found->match) + " and " + to_string(entry.match));
    found = &entry;
  }
  return found != nullptr ? found : &config.every_adapter;
}

std::string to_string(const AdapterMatch& match) {
  if (match.mac) return "mac = \"" + *match.mac + "\"";
  if (match.netdev) return "netdev = \"" + *match.netdev + "\"";
  return "pci = \"" + match.pci.value_or("") + "\"";
}

}  // namespace pvrdma
