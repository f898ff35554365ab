// SPDX-License-Identifier: GPL-2.0-or-later
// Guard: may this operation be done, here and now? Pure: values in, a verdict out.
//
// The privileged side trusts nothing it is told. Every operation is held against the root-owned
// configuration, the PCI identity of the function, and who uses the driver at this moment.
// Whatever could not be read counts against the operation, never for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/model/action.hpp"
#include "agent/model/config.hpp"
#include "agent/model/field.hpp"
#include "agent/model/report.hpp"
#include "probes/pci.hpp"

namespace pvrdma::executor {

struct AdapterFacts {
  probes::PciAdapter pci;
  Field<std::string> mac;            // of pci.netdev, lower case
  Field<std::string> permanent_mac;  // its own; absent where the kernel does not say
  Field<unsigned> mtu;               // of pci.netdev, bytes
  Field<bool> up;                    // of pci.netdev, administratively
  Field<LinkOwner> owner;            // of pci.netdev; absent: no network manager has it
};

// What the executor itself has just read; nothing of it comes from the request.
struct Facts {
  Field<std::vector<AdapterFacts>> adapters;
  Module driver;                       // vmw_pvrdma
  Field<std::vector<Holder>> holders;  // of every adapter
};

// Empty: it may be done. NotAllowed with the reason, or InUse with the holders.
[[nodiscard]] std::optional<Report> refusal(const Operation& operation, const Config& config,
                                            const Facts& facts);

// Whether an address may be taken off the adapter's link, and with it the GID that queue pairs of a
// running job may use. Empty: it may.
[[nodiscard]] std::optional<Report> address_refusal(const Facts& facts,
                                                    const AdapterFacts& adapter);

// What the configuration says about this adapter, as find_config() of agent/model.
[[nodiscard]] Result<const AdapterConfig*> config_of(const Config& config,
                                                     const AdapterFacts& adapter);

// The adapter of that function; null where there is none, or the adapters could not be read.
[[nodiscard]] const AdapterFacts* find(const Facts& facts, const std::string& function);

}  // namespace pvrdma::executor
