// Who holds a verbs context of a PVRDMA adapter: what an unload or an unbind has to wait for.
//
// Three witnesses, the cheapest first. The reference count of vmw_pvrdma counts every open verbs
// node, whoever opened it (Linux drivers/infiniband/core/uverbs_main.c takes it as the driver has
// no disassociate_ucontext): 0 proves that nobody holds anything. nldev names the processes (5.14
// and later). Links in /proc/PID/fd name them on older kernels, where they may be read. An answer
// is "nobody" only where it is certain: a count that no process explains is unreadable.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma::probes {

struct HeldDevice {
  std::string rdma_device;    // "rocep19s0f1"
  Field<std::string> uverbs;  // "uverbs0"
};

// The devices of all PVRDMA adapters; for one adapter, filter the answer by Holder::rdma_device.
// Holders are sorted by PID, one entry for each process and device. A PID of 0: it has ended and
// left its fd to another process, or lives in a PID namespace that is not visible from here.
// Somebody may open a device the moment after this look.
[[nodiscard]] Field<std::vector<Holder>> find_holders(const Root& root,
                                                      const std::vector<HeldDevice>& devices);

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
