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
  struct Adapter {
    AdapterConfig config;  // without its addresses
    std::string match;     // "mac=00:50:56:8a:9f:c2": equal where two match alike
    Said match_said;
    std::optional<Said> mtu_said;
    std::vector<Address> addresses;
  };

  Config config;                    // without its adapters
  std::vector<Said> required_said;  // one for each of `required`; empty: nobody set it
  bool required_set = false;
  std::vector<Adapter> adapters;

  // Adds what a file says; a key said before is replaced.
  [[nodiscard]] Result<void> add(const toml_tree::Node& root, const std::string& file);
  // Checks across keys and files: required modules are in `before`, no two [[adapter]] tables name
  // the same adapter or share a subnet, IPv6 has the MTU it needs.
  [[nodiscard]] Result<Config> finish() &&;
};

}  // namespace pvrdma
