// SPDX-License-Identifier: GPL-2.0-or-later
// A configuration while its files are read: values that are valid by themselves, with their places.
// finish() then checks them together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/config/item.hpp"
#include "agent/model/config.hpp"
#include "agent/model/identifiers.hpp"

namespace pvrdma {

struct ConfigDraft {
  struct Address {
    InterfaceAddress value;
    SourceValue said;
  };
  struct Mtu {
    unsigned bytes;
    SourceValue said;
  };
  // Keys that may be set for every adapter, and for one; unset keys are empty.
  struct SharedKeys {
    std::optional<Manage> manage;
    std::optional<Mtu> mtu;
    std::optional<GidType> gid_type;
  };
  struct Adapter {
    AdapterMatch match;
    SourceValue match_said;
    SharedKeys keys;
    std::vector<Address> addresses;
  };

  Config config;  // without the adapters
  std::optional<std::vector<SourceValue>>
      required_said;         // the place of each of `required`; none: not set
  SharedKeys every_adapter;  // of [[adapter]] without match
  std::vector<Adapter> adapters;

  // Adds the keys of a file; they replace earlier ones.
  [[nodiscard]] Result<void> add(const toml_tree::Node& root, const std::string& file);
  // Gives each adapter the keys of `every_adapter` that it does not set, then checks across keys
  // and files: required modules are in `before`, no two [[adapter]] tables name the same adapter or
  // share a subnet, and the MTU is large enough for IPv6.
  [[nodiscard]] Result<Config> finish() &&;
};

}  // namespace pvrdma
