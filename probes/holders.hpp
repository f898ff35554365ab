// SPDX-License-Identifier: GPL-2.0-or-later
// Who uses a PVRDMA adapter: what an unload or an unbind has to wait for.
//
// Of processes there are three witnesses, the cheapest first. The reference count of vmw_pvrdma
// counts every open verbs node, whoever opened it (Linux drivers/infiniband/core/uverbs_main.c
// takes it as the driver has no disassociate_ucontext): 0 proves that none holds anything. nldev
// names the processes (5.14 and later). Links in /proc/PID/fd name them on older kernels, where
// they may be read. An answer is "nobody" only where it is certain: a count that no process
// explains is unreadable.
//
// What uses an adapter inside the kernel (NFS, NVMe or SMB over RDMA) takes no reference and is
// torn down by an unload; it is known by its queue pairs. By those alone: idle modules, too, have
// protection domains.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma::probes {

struct HeldDevice {
  std::string rdma_device;    // "rocep19s0f1"
  Field<std::string> uverbs;  // "uverbs0"
};

// What in the kernel has queue pairs on devices: for each its name ("rdma_cm") as the command.
using KernelUsers =
    std::function<Result<std::vector<Holder>>(const std::vector<std::string>& rdma_devices)>;
// As nldev says; none where it cannot say (before Linux 4.17), or does not know the device.
[[nodiscard]] Result<std::vector<Holder>> kernel_users(
    const std::vector<std::string>& rdma_devices);

// The devices of all PVRDMA adapters; for one adapter, filter the answer by Holder::rdma_device.
// Holders are sorted by PID, one entry for each process, or user in the kernel, and device; the
// kernel is asked only about a device that no process holds. Somebody may open a device the moment
// after this look.
[[nodiscard]] Field<std::vector<Holder>> find_holders(const Root& root,
                                                      const std::vector<HeldDevice>& devices,
                                                      const KernelUsers& users = kernel_users);

// The devices of `adapters`, as find_holders() takes them.
[[nodiscard]] std::vector<HeldDevice> held_devices(const std::vector<Adapter>& adapters);

// Links of /proc/PID/fd to a device's verbs node. `complete` false: some process could not be
// looked into, so there may be more.
struct OpenNodes {
  std::vector<Holder> holders;
  bool complete = true;
};
[[nodiscard]] Result<OpenNodes> find_open_nodes(const Root& root,
                                                const std::vector<HeldDevice>& devices);

}  // namespace pvrdma::probes
