// SPDX-License-Identifier: GPL-2.0-or-later
// Guard: decides whether an operation is allowed now. Pure: values in, a verdict out.
//
// The privileged side trusts no request. Every operation is checked against the root-owned
// configuration, the PCI identity of the function, and the present users of the driver. A fact that
// could not be read counts against the operation, never for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/model/action.hpp"
#include "agent/model/config.hpp"
#include "agent/model/field.hpp"
#include "agent/model/operation_result.hpp"
#include "probes/pci.hpp"

namespace pvrdma::executor {

struct AdapterFacts {
  probes::PciAdapter pci;
  Field<std::string> mac;            // of pci.netdev, lower case
  Field<std::string> permanent_mac;  // of the device; absent where the kernel does not tell
  Field<unsigned> mtu;               // of pci.netdev, bytes
  Field<bool> link_up;               // of pci.netdev, administratively
  Field<LinkOwner> owner;            // of pci.netdev; absent: no network manager has it
};

// Facts that the executor itself has just read; none comes from the request.
struct Facts {
  Field<std::vector<AdapterFacts>> adapters;
  Module driver;                       // vmw_pvrdma
  Field<std::vector<Holder>> holders;  // of every adapter
};

// Empty: the operation is allowed. Otherwise NotAllowed with the reason, or InUse with the holders.
[[nodiscard]] std::optional<OperationResult> refusal(const Operation& operation,
                                                     const Config& config, const Facts& facts);

// Why nothing may be done to the adapter's link that harms a job on the adapter: an address takes
// its GID with it, and vmxnet3 resets its device for a new MTU. Empty: no job has the adapter.
[[nodiscard]] std::optional<OperationResult> adapter_refusal(const Facts& facts,
                                                             const AdapterFacts& adapter);

// The configuration of this adapter, from find_config() of agent/model.
[[nodiscard]] Result<const AdapterConfig*> config_of(const Config& config,
                                                     const AdapterFacts& adapter);

// The adapter of that function; null where there is none, or the adapters could not be read.
[[nodiscard]] const AdapterFacts* find(const Facts& facts, const std::string& function);

}  // namespace pvrdma::executor
