// SPDX-License-Identifier: GPL-2.0-or-later
// RDMA devices over nldev (NETLINK_RDMA, <rdma/rdma_netlink.h>; Linux
// drivers/infiniband/core/nldev.c): port state, paired netdev, holders of verbs contexts, and users
// in the kernel. No capability is needed.
//
// Parsing is separate from the socket.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/netlink.hpp"
#include "agent/model/field.hpp"
#include "agent/model/port_state.hpp"

namespace pvrdma::probes {

struct NldevDevice {
  std::uint32_t index = 0;  // never reused in a boot
  std::string name;
};

struct NldevPort {
  Field<PortState> state;
  Field<PhysState> phys_state;
  // Absent: the driver has no netdev for the port (any more), or the netdev is in another network
  // namespace.
  Field<std::string> netdev;
};

// Replies of RDMA_NLDEV_CMD_GET, _PORT_GET, _RES_CTX_GET and _RES_PD_GET. EBADMSG: another message.
[[nodiscard]] Result<NldevDevice> parse_nldev_device(nlmsghdr& message);
[[nodiscard]] Result<NldevPort> parse_nldev_port(nlmsghdr& message);
// The process of each user context, without contexts of the kernel. 0: the process that opened the
// context has ended (and left the fd to another), or is not visible from this PID namespace; the
// context is still open.
[[nodiscard]] Result<std::vector<pid_t>> parse_nldev_contexts(nlmsghdr& message);
// The process of each protection domain of a process, from the reply of RDMA_NLDEV_CMD_RES_PD_GET.
// 0 as above.
[[nodiscard]] Result<std::vector<pid_t>> parse_nldev_domain_owners(nlmsghdr& message);
// The number of queue pairs of a device, from the reply of RDMA_NLDEV_CMD_RES_GET.
[[nodiscard]] Result<std::uint64_t> parse_nldev_queue_pairs(nlmsghdr& message);
// The kernel module of each protection domain of the kernel that is in use ("nvmet_rdma"), except
// ib_core's, which is for the management datagrams of every port.
[[nodiscard]] Result<std::vector<std::string>> parse_nldev_kernel_users(nlmsghdr& message);

class Nldev {
 public:
  // Opens nldev and lists its devices. EPROTONOSUPPORT: ib_core is not loaded.
  [[nodiscard]] static Result<Nldev> open();
  // Lists the devices again.
  [[nodiscard]] Result<void> list();
  // A device of the last list; null: none had that name.
  [[nodiscard]] const NldevDevice* find(const std::string& name) const;
  // Reads port 1 with one device command. EINVAL: no such device (any more).
  [[nodiscard]] Result<NldevPort> port(std::uint32_t index);
  // EINVAL: no such device, or a kernel older than 5.14.
  [[nodiscard]] Result<std::vector<pid_t>> contexts(std::uint32_t index);
  // The processes with a protection domain, which transfers need and an open context does not.
  // EINVAL: no such device, or a kernel older than 4.17.
  [[nodiscard]] Result<std::vector<pid_t>> domain_owners(std::uint32_t index);
  // The kernel modules with queue pairs. Needs no device command; listing the queue pairs
  // themselves would need one for each. EINVAL: no such device, or a kernel older than 4.17.
  [[nodiscard]] Result<std::vector<std::string>> kernel_users(std::uint32_t index);

 private:
  explicit Nldev(NetlinkSocket socket) : socket_(std::move(socket)) {}
  NetlinkSocket socket_;
  std::vector<NldevDevice> devices_;
};

}  // namespace pvrdma::probes
