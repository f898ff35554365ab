// SPDX-License-Identifier: GPL-2.0-or-later
// PCI functions and adapters in a guest's sysfs.
#pragma once

#include <string>

#include "tests/unit/tree.hpp"

namespace pvrdma::test {

// A PCI function in sysfs, with hexadecimal numbers; by default a network function (02); `driver`
// empty: no driver.
inline void pci_function(const Tree& tree, const std::string& address, const std::string& vendor,
                         const std::string& device, const std::string& driver,
                         const std::string& base_class = "02") {
  const std::string function = "/sys/bus/pci/devices/" + address;
  tree.file(function + "/modalias", "pci:v0000" + vendor + "d0000" + device +
                                        "sv000015ADsd00000000bc" + base_class + "sc00i00\n");
  if (!driver.empty()) tree.link(function + "/driver", "../../../bus/pci/drivers/" + driver);
}

// An adapter of slot 0000:SLOT as in a guest (Linux 6.1): both functions bound, port ACTIVE, two
// GIDs in a table of eight.
inline void bound_adapter(const Tree& tree, const std::string& slot, const std::string& netdev,
                          const std::string& rdma_device, const std::string& uverbs) {
  const std::string net_function = "0000:" + slot + ".0";
  const std::string function = "0000:" + slot + ".1";
  pci_function(tree, net_function, "15AD", "07B0", "vmxnet3");
  pci_function(tree, function, "15AD", "0820", "vmw_pvrdma");
  tree.directory("/sys/bus/pci/devices/" + net_function + "/net/" + netdev);
  tree.directory("/sys/bus/pci/devices/" + function + "/infiniband_verbs/" + uverbs);
  const std::string device = "/sys/bus/pci/devices/" + function + "/infiniband/" + rdma_device;
  tree.file(device + "/node_guid", "0250:56ff:fe00:0010\n");
  const std::string port = device + "/ports/1";
  tree.file(port + "/state", "4: ACTIVE\n");
  tree.file(port + "/phys_state", "5: LinkUp\n");
  tree.file(port + "/link_layer", "Ethernet\n");
  for (int index = 0; index < 8; ++index)
    tree.file(port + "/gids/" + std::to_string(index), "0000:0000:0000:0000:0000:0000:0000:0000\n");
  tree.file(port + "/gids/0", "fe80:0000:0000:0000:0250:56ff:fe00:0010\n");
  tree.file(port + "/gids/1", "0000:0000:0000:0000:0000:ffff:c0a8:1ec9\n");
  for (const char* index : {"0", "1"}) {
    tree.file(port + "/gid_attrs/types/" + index, "IB/RoCE v1\n");
    tree.file(port + "/gid_attrs/ndevs/" + index, netdev + "\n");
  }
}

}  // namespace pvrdma::test
