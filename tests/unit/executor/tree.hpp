// SPDX-License-Identifier: GPL-2.0-or-later
// An adapter in sysfs, for the executor's tests.
#pragma once

#include <filesystem>
#include <string>

#include "tests/unit/tree.hpp"

namespace pvrdma::test {

inline constexpr const char* kFunction = "0000:13:00.1";
inline constexpr const char* kNetFunction = "0000:13:00.0";
inline constexpr const char* kBind = "/sys/bus/pci/drivers/vmw_pvrdma/bind";

// The identity of an adapter's two functions in these folders of sysfs, without a driver.
inline void identify_adapter(const Tree& tree, const std::string& rdma, const std::string& net) {
  tree.file(rdma + "/modalias", "pci:v000015ADd00000820sv000015ADsd00000820bc02sc80i00\n");
  tree.file(net + "/modalias", "pci:v000015ADd000007B0sv000015ADsd000007B0bc02sc00i00\n");
}

// An adapter in sysfs; vmw_pvrdma is live and has no user.
inline void add_adapter(const Tree& tree, const std::string& netdev, int interface_index) {
  const std::string rdma = std::string{"/sys/bus/pci/devices/"} + kFunction;
  const std::string net = std::string{"/sys/bus/pci/devices/"} + kNetFunction;
  identify_adapter(tree, rdma, net);
  tree.link(rdma + "/driver", "../../../bus/pci/drivers/vmw_pvrdma");
  tree.file(rdma + "/infiniband/rocep19s0f1/node_type", "1: CA\n");
  tree.file(rdma + "/infiniband_verbs/uverbs0/ibdev", "rocep19s0f1\n");
  tree.link(net + "/driver", "../../../bus/pci/drivers/vmxnet3");
  tree.file(net + "/net/" + netdev + "/ifindex", std::to_string(interface_index) + "\n");
  tree.file(net + "/net/" + netdev + "/address", "00:50:56:8a:9f:c2\n");
  tree.file(net + "/net/" + netdev + "/mtu", "1500\n");
  tree.file(net + "/net/" + netdev + "/flags", "0x1003\n");
  tree.file("/sys/bus/pci/drivers/vmw_pvrdma/bind", "");
  tree.file("/sys/bus/pci/drivers/vmw_pvrdma/unbind", "");
  tree.file("/sys/module/vmw_pvrdma/initstate", "live\n");
  tree.file("/sys/module/vmw_pvrdma/refcnt", "0\n");
  tree.file("/proc/modules",
            "vmw_pvrdma 81920 0 - Live 0x0000000000000000\n"
            "vmxnet3 73728 0 - Live 0x0000000000000000\n");
  tree.directory("/proc/1/fd");
  tree.file("/proc/31/stat", "31 (kworker/u4:2-pvrdma_event_wq) I 2 0 0 0 -1 69238880 0\n");
  tree.file("/dev/infiniband/uverbs0", "");
  std::filesystem::permissions(tree / "/dev/infiniband/uverbs0", std::filesystem::perms{0666});
}

}  // namespace pvrdma::test
