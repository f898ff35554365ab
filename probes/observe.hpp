// One look at the whole system: every probe, put together into a Snapshot.
//
// Read-only and unprivileged. It blocks where the kernel does (a port's state is a device command
// that waits up to ten seconds for a dead device), so the daemon looks from a thread of its own.
#pragma once

#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma::probes {

struct ObserveOptions {
  Root root;                         // for /sys, /proc, /run/udev and /lib/modules
  std::vector<std::string> modules;  // to report, beside vmxnet3 and vmw_pvrdma
  // The program that asks ibv_query_port(3); empty: nobody asks. It opens a verbs context for some
  // milliseconds, so it is run only for a port whose state differs from that in `previous`.
  std::string port_query;
  const Snapshot* previous = nullptr;
  // Whether to look at the initramfs, which is not for every second; else what `previous` has
  // holds.
  bool initramfs = true;
};

// Leaves Snapshot::ledger empty: the ledger is the executor's file, not the kernel's state.
[[nodiscard]] Snapshot observe(const ObserveOptions& options);

}  // namespace pvrdma::probes
