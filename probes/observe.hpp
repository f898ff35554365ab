// SPDX-License-Identifier: GPL-2.0-or-later
// One look at the whole system: every probe, put together into a Snapshot.
//
// Read-only and unprivileged. It blocks where the kernel does (a port's state is a device command
// that waits up to ten seconds for a dead device), so the daemon looks from a thread of its own.
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

struct ObserveOptions {
  Root root;                         // for /sys, /proc, /run/udev and /lib/modules
  std::vector<std::string> modules;  // to report, beside vmxnet3 and vmw_pvrdma
  // Asks ibv_query_port(3); null: it is not asked. For that a verbs context is opened for some
  // milliseconds, so it is asked only for a port whose state differs from that in `previous`; where
  // it failed, also if `asked`, and now and then.
  PortQuery* port_query = nullptr;
  // Asks the module index about modules that are not loaded; empty: it is not asked.
  ShippedFinder find_shipped;
  // Reads modprobe.d for those of them that could be loaded; empty: it is not read.
  ModprobeReader read_modprobe;
  const Snapshot* previous = nullptr;
  // Whether to look at the initramfs, which is not for every second; else what `previous` has
  // holds.
  bool initramfs = true;
  // Looks for scripts that reload the driver, where there is an adapter; null: it does not. Their
  // files are compared with what was read of them only now and then, or where `asked`.
  BootScriptWatch* boot_scripts = nullptr;
  bool asked = true;
  // Reads the executor's file, whose form is not for probes to know; empty: there is no ledger.
  std::function<Result<Ledger>()> read_ledger;
};

// The one place where a Snapshot is put together.
[[nodiscard]] Snapshot observe(const ObserveOptions& options);

}  // namespace pvrdma::probes
