// SPDX-License-Identifier: GPL-2.0-or-later
// Decides which part of the configuration applies to which adapter. The agent, its executor and the
// forecast of the next boot all ask here.
#pragma once

#include <string>

#include "agent/base/error.hpp"
#include "agent/model/config.hpp"
#include "agent/model/field.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma {

// The names by which an [[adapter]] table can select an adapter, as far as they are known.
struct AdapterNames {
  std::string function;      // 15ad:0820, "0000:13:00.1"
  std::string net_function;  // function 0 of the slot
  Field<std::string> netdev;
  Field<std::string> mac;              // the netdev's present one, lower case
  Field<std::string> permanent_mac{};  // the device's own; absent where the kernel does not say
};
[[nodiscard]] AdapterNames names_of(const Adapter& adapter);

[[nodiscard]] bool matches(const AdapterMatch& match, const AdapterNames& names);

// The [[adapter]] table that matches, else `every_adapter`; never null. A table's `mac` matches the
// netdev's present MAC or the device's permanent MAC. The permanent MAC outranks the present one,
// since a bond gives all its links the MAC of one of them. Error: a name that an [[adapter]] table
// uses could not be read, so a table with manage = "observe" might apply; or (EEXIST) two tables
// match by different keys, which shows only once the adapter is present.
[[nodiscard]] Result<const AdapterConfig*> find_config(const Config& config,
                                                       const AdapterNames& names);

// As in the file: "mac = \"00:50:56:8a:9f:c2\"".
[[nodiscard]] std::string to_string(const AdapterMatch& match);

}  // namespace pvrdma
