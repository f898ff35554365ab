// SPDX-License-Identifier: GPL-2.0-or-later
// A configuration while its files are read one after the other: values that are right each by
// itself, with the places they came from, until finish() has looked at them together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/config/item.hpp"
#include "agent/model/address.hpp"
#include "agent/model/config.hpp"

namespace pvrdma {

struct ConfigDraft {
  struct Address {
    InterfaceAddress value;
    Said said;
  };
  struct Mtu {
    unsigned bytes;
    Said said;
  };
  // Keys that may be set for every adapter, and for one; what is not set is empty.
  struct SharedKeys {
    std::optional<Manage> manage;
    std::optional<Mtu> mtu;
    std::optional<GidType> gid_type;
  };
  struct Adapter {
    AdapterMatch match;
    Said match_said;
    SharedKeys keys;
    std::vector<Address> addresses;
  };

  Config config;                                   // without anything of adapters
  std::optional<std::vector<Said>> required_said;  // each of `required`; none: nobody set it
  SharedKeys every_adapter;                        // of [[adapter]] without match
  std::vector<Adapter> adapters;

  // Adds what a file says; a key said before is replaced.
  [[nodiscard]] Result<void> add(const toml_tree::Node& root, const std::string& file);
  // Gives each adapter what is set for every one, then checks across keys and files: required
  // modules are in `before`, no two [[adapter]] tables name the same adapter or share a subnet,
  // IPv6 has the MTU it needs.
  [[nodiscard]] Result<Config> finish() &&;
};

}  // namespace pvrdma
