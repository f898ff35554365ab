// SPDX-License-Identifier: GPL-2.0-or-later
// HeldSignals: blocks all signals of the calling thread while it lives, so that they cannot
// interrupt a wait in the kernel.
//
// A thread that sends a command to an RDMA device waits interruptibly for the answer (Linux
// drivers/infiniband/hw/vmw_pvrdma/pvrdma_cmd.c), for ten seconds at most. If a signal ends that
// wait, the driver sends the next command at once and takes the late answer for the answer to that
// command: an operation of another process fails. So such a process must not exit, and must not get
// SIGKILL, which cannot be blocked.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace pvrdma {

class HeldSignals {
 public:
  HeldSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  HeldSignals(HeldSignals&&) = delete;
  HeldSignals& operator=(HeldSignals&&) = delete;
  // Signals that came meanwhile take effect now.
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace pvrdma
