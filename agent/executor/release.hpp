// SPDX-License-Identifier: GPL-2.0-or-later
// Finishes what a killed executor has left half done, when no other executor will run: the package
// is being removed.
//
// While the agent runs, its next look sees such a state and mends it. Without the agent, a reload
// that was killed between removal and insertion would leave the VM without RDMA, and no modprobe
// would bind functions that are held back (kHeldBack) until the next boot.
#pragma once

#include "agent/executor/operations.hpp"

namespace pvrdma::executor {

// Must be called only when no executor runs. Releases the functions that are held back, and binds
// them if the driver is loaded. Inserts the driver if the ledger has an unfinished reload or load
// of it. AlreadyDone: nothing was left half done.
[[nodiscard]] OperationResult release(const Places& places);

}  // namespace pvrdma::executor
