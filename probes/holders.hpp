// SPDX-License-Identifier: GPL-2.0-or-later
// The holders of PVRDMA adapters, for which an unload or an unbind has to wait.
//
// There are three sources about processes, the cheapest first. The refcount of vmw_pvrdma counts
// every open verbs node (Linux drivers/infiniband/core/uverbs_main.c, as the driver has no
// disassociate_ucontext): 0 proves that there is no holder. nldev names the processes: all of them
// (Linux 5.14 and later), or those with a protection domain. Links in /proc/PID/fd name others,
// where they may be read. The answer is empty only if it is certain that there is no holder. A
// refcount that no process explains gives an unreadable Field; where it is higher than the number
// of the named processes, or of their contexts, a Holder without PID and device is added, which may
// hold any device: nldev does not know a process that has opened a node and made no context.
//
// Users of an adapter inside the kernel (NFS, NVMe or SMB over RDMA) take no reference, and an
// unload tears them down. They are known by their queue pairs, not by protection domains, as idle
// modules have those too.
#pragma once

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

// Finds the kernel modules that have queue pairs on these devices: a Holder for each, with its name
// ("rdma_cm") as the command.
using KernelUsers =
    std::function<Result<std::vector<Holder>>(const std::vector<std::string>& rdma_devices)>;
// Asks nldev; none where nldev cannot tell (before Linux 4.17) or does not know the device.
[[nodiscard]] Result<std::vector<Holder>> kernel_users(
    const std::vector<std::string>& rdma_devices);

// The processes with a verbs context on these devices, one entry for each context, or, where
// `complete` is false, those with a protection domain.
struct ContextOwners {
  std::vector<Holder> holders;
  bool complete = true;
};
using FindContexts = std::function<Result<ContextOwners>(const std::vector<HeldDevice>& devices)>;
// Asks nldev. Error: nldev does not know every device.
[[nodiscard]] Result<ContextOwners> context_owners(const std::vector<HeldDevice>& devices);

// `devices` must be those of all PVRDMA adapters; for one adapter, filter the answer by
// Holder::rdma_device. Holders are sorted by PID, one entry for each device and process or kernel
// module. Kernel modules are looked for only on devices that no process holds. A process may open a
// device right after this look.
[[nodiscard]] Field<std::vector<Holder>> find_holders(
    const Root& root, const std::vector<HeldDevice>& devices,
    const KernelUsers& users = kernel_users, const FindContexts& contexts = context_owners);

// The devices of `adapters`, for find_holders().
[[nodiscard]] std::vector<HeldDevice> held_devices(const std::vector<Adapter>& adapters);

// The links of /proc/PID/fd to a device's verbs node. `complete` false: the fds of a process could
// not be read, or /proc does not list every process, so there may be more.
struct OpenNodes {
  std::vector<Holder> holders;
  bool complete = true;
};
[[nodiscard]] Result<OpenNodes> find_open_nodes(const Root& root,
                                                const std::vector<HeldDevice>& devices);

}  // namespace pvrdma::probes
