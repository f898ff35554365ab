// SPDX-License-Identifier: GPL-2.0-or-later
// HeldSignals: while it lives, signals wait that would end the calling thread's wait in the kernel.
//
// A thread that asks an RDMA device for something waits interruptibly for the answer (Linux
// drivers/infiniband/hw/vmw_pvrdma/pvrdma_cmd.c), for ten seconds at most. Where a signal ends that
// wait, the next command goes to the device at once, and the late answer to ours is taken for the
// answer to that one: a verb of an innocent process fails. SIGKILL, which cannot be held, must not
// be sent to such a process, nor may it exit.
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
  // What has come meanwhile takes effect now.
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace pvrdma
