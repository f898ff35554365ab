// SPDX-License-Identifier: GPL-2.0-or-later
// The end of what an executor that was killed has left half done, where no other will follow: the
// package is being removed.
//
// While the agent runs, its next look sees what is missing and has it done. Without it, a reload
// that was killed between removal and insertion would leave the VM without RDMA, and functions held
// back (kHeldBack) would be bound by no modprobe until the next boot.
#pragma once

#include "agent/executor/operations.hpp"

namespace pvrdma::executor {

// To be called when no executor runs. Frees the functions that are held back, and binds them where
// the driver is loaded; inserts the driver where the ledger has a reload, or its load, that has not
// ended. AlreadyDone: nothing was left half done.
[[nodiscard]] Report release(const Places& places);

}  // namespace pvrdma::executor
