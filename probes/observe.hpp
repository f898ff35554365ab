// SPDX-License-Identifier: GPL-2.0-or-later
// One look at the whole system: combines all probes into a Snapshot.
//
// Read-only and unprivileged. It blocks where the kernel does (a port's state is a device command
// that waits up to ten seconds for a dead device), so the daemon looks from a separate thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"
#include "probes/modules.hpp"
#include "probes/port_query.hpp"
#include "probes/recipe/boot_scripts.hpp"

namespace pvrdma::probes {

// What every look uses.
struct Instruments {
  Root root;  // of all files that a look reads, but not of the ledger (read_ledger)
  // Calls ibv_query_port(3); null: no call. The call opens a verbs context for some milliseconds,
  // so it is made only for a port whose state differs from that in the look before; after a failure
  // also if the look is asked for, and from time to time.
  PortQuery* port_query = nullptr;
  // Reads the module index for modules that are not loaded; empty: not read.
  ShippedFinder find_shipped{};
  // Reads modprobe.d for those of them that could be loaded; empty: not read.
  ModprobeReader read_modprobe{};
  // Looks for scripts that reload the driver, if there is an adapter; null: no look. Their files
  // are checked for changes only from time to time, or if the look is asked for.
  BootScriptWatch* boot_scripts = nullptr;
  // Reads the executor's ledger, whose format probes do not know; empty: no ledger is read.
  std::function<Result<Ledger>()> read_ledger{};
};

// Lets the program module-lookup read the module index and modprobe.d.
void ask_module_lookup(Instruments& with, std::string program);

// What one look is to do.
struct Look {
  std::vector<std::string> modules{};  // to report, besides vmxnet3 and vmw_pvrdma
  const Snapshot* previous = nullptr;  // the snapshot of the look before
  bool asked = true;                   // by a client or an event
  // Whether to look at the initramfs, which need not be done each time; if not, the result in
  // `previous` is used.
  bool initramfs = true;
};

[[nodiscard]] Snapshot observe(const Instruments& with, const Look& look);

}  // namespace pvrdma::probes
