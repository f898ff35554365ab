// SPDX-License-Identifier: GPL-2.0-or-later
// RDMA devices over nldev (NETLINK_RDMA, <rdma/rdma_netlink.h>; Linux
// drivers/infiniband/core/nldev.c): port state, paired netdev, who holds a verbs context, and what
// in the kernel uses a device. No capability is needed.
//
// Messages are parsed apart from the socket.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/netlink.hpp"
#include "agent/model/field.hpp"

namespace pvrdma::probes {

struct NldevDevice {
  std::uint32_t index = 0;  // of this boot; never used twice
  std::string name;
};

struct NldevPort {
  Field<std::string> state;       // "ACTIVE"
  Field<std::string> phys_state;  // "LINK_UP"
  // Absent: the driver has no netdev for the port (any more), or it is in another network
  // namespace.
  Field<std::string> netdev;
};

// Replies of RDMA_NLDEV_CMD_GET, _PORT_GET, _RES_CTX_GET and _RES_PD_GET. EBADMSG: not such a
// message.
[[nodiscard]] Result<NldevDevice> parse_nldev_device(nlmsghdr& message);
[[nodiscard]] Result<NldevPort> parse_nldev_port(nlmsghdr& message);
// The process of each user context, kernel ones left out. 0: the process that opened it has ended
// (and left the fd to another), or is not visible from this PID namespace: held all the same.
[[nodiscard]] Result<std::vector<pid_t>> parse_nldev_contexts(nlmsghdr& message);
// How many queue pairs a device has, of RDMA_NLDEV_CMD_RES_GET's reply.
[[nodiscard]] Result<std::uint64_t> parse_nldev_queue_pairs(nlmsghdr& message);
// The kernel module behind each of the kernel's protection domains that has something in it
// ("nvmet_rdma"), but for ib_core's, for the management datagrams of every port.
[[nodiscard]] Result<std::vector<std::string>> parse_nldev_kernel_users(nlmsghdr& message);

class Nldev {
 public:
  // With its devices listed. EPROTONOSUPPORT: ib_core is not loaded.
  [[nodiscard]] static Result<Nldev> open();
  // Lists them anew.
  [[nodiscard]] Result<void> list();
  // Of those listed last; null: there was none of that name.
  [[nodiscard]] const NldevDevice* find(const std::string& name) const;
  // Port 1. One device command. EINVAL: no such device (any more).
  [[nodiscard]] Result<NldevPort> port(std::uint32_t index);
  // EINVAL: no such device, or a kernel older than 5.14.
  [[nodiscard]] Result<std::vector<pid_t>> contexts(std::uint32_t index);
  // What in the kernel has queue pairs. Costs no device command, as asking for the queue pairs
  // themselves would: one for each. EINVAL: no such device, or a kernel older than 4.17.
  [[nodiscard]] Result<std::vector<std::string>> kernel_users(std::uint32_t index);

 private:
  explicit Nldev(NetlinkSocket socket) : socket_(std::move(socket)) {}
  NetlinkSocket socket_;
  std::vector<NldevDevice> devices_;
};

}  // namespace pvrdma::probes
