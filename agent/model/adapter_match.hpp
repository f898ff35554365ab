// SPDX-License-Identifier: GPL-2.0-or-later
// Which part of the configuration speaks about which adapter: the one place where that is decided,
// for the agent, its executor and the forecast of the next boot.
#pragma once

#include <string>

#include "agent/base/error.hpp"
#include "agent/model/config.hpp"
#include "agent/model/field.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma {

// By what an [[adapter]] can name an adapter, as far as that is known.
struct AdapterNames {
  std::string function;      // 15ad:0820, "0000:13:00.1"
  std::string net_function;  // function 0 of the slot
  Field<std::string> netdev;
  Field<std::string> mac;              // of the netdev, lower case: the one it has now
  Field<std::string> permanent_mac{};  // the device's own; absent where the kernel does not say
};
[[nodiscard]] AdapterNames names_of(const Adapter& adapter);

[[nodiscard]] bool matches(const AdapterMatch& match, const AdapterNames& names);

// The [[adapter]] that matches, else what holds for every adapter; never null. A MAC is the
// netdev's present one or the device's own, which outranks it: a bond gives all its links the MAC
// of one. An Error: what an
// [[adapter]] goes by could not be read, so that one might be meant that says `observe`; or
// (EEXIST) two match, by different keys, which nobody can tell before the adapter is there.
[[nodiscard]] Result<const AdapterConfig*> find_config(const Config& config,
                                                       const AdapterNames& names);

// As in the file: "mac = \"00:50:56:8a:9f:c2\"".
[[nodiscard]] std::string to_string(const AdapterMatch& match);

}  // namespace pvrdma
