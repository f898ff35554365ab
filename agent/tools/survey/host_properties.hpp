// SPDX-License-Identifier: GPL-2.0-or-later
// The properties of PVRDMA adapters that an administrator pasted from an ESXi shell:
// vsish -e cat /vmkModules/vrdma/pvrdmaDevices/WORLD_INDEX/properties. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/tools/survey/host_paste.hpp"

namespace pvrdma {

// One adapter. A field is absent if the text has no such line, or a value that does not fit.
struct AdapterProperties {
  std::size_t line = 0;           // of the text, from 1
  std::string node;               // "2101234_0", World ID of the VM and index; empty: not told
  std::string host;               // of the prompt, "esx01"; empty: not told
  std::string mac;                // lower case: "00:50:56:aa:bb:cc"; empty: not told
  std::optional<unsigned> index;  // of the adapter among the VM's PVRDMA adapters, from 0
  // The host has an RDMA NIC for this adapter: packets to other hosts do not go over TCP.
  std::optional<bool> physical_hca;
  // The NIC gives the VM its own identifiers of queue pairs and keys (vSphere 7.0, hardware 17).
  std::optional<bool> namespace_allocated;
  // It can speak to machines without PVRDMA adapters (vSphere 7.0 U1, hardware 18).
  std::optional<bool> native_endpoints;
  std::optional<bool> native_vmotion;  // vMotion is possible with such connections
  std::optional<bool> prefers_roce_v1;
  std::optional<unsigned> roce_version;  // 1 or 2
  std::optional<unsigned> active_mtu;    // bytes
};

// The row of a table that has "Physical HCA available".
[[nodiscard]] AdapterProperties adapter_properties(const PastedTable& table, std::size_t row);
// In the order of the text; empty: it has none.
[[nodiscard]] std::vector<AdapterProperties> adapter_properties(std::string_view text);

}  // namespace pvrdma
