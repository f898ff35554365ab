// SPDX-License-Identifier: GPL-2.0-or-later
// PVRDMA functions on the PCI bus, each with its paired vmxnet3 function.
//
// Reads sysfs only (Documentation/ABI/testing/sysfs-bus-pci) and sends no command to a device:
// `modalias` holds the kernel's cached values. An adapter is identified by the address of its RDMA
// function, which no rename changes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/field.hpp"

namespace pvrdma::probes {

struct PciAdapter {
  std::string function;      // 15ad:0820, "0000:13:00.1"
  std::string net_function;  // function 0 of the same slot, present or not
  Field<std::string> driver;
  // Of `net_function`; both absent unless that function is a vmxnet3 device (15ad:07b0), so that no
  // other NIC is ever taken for the adapter's link.
  Field<std::string> net_driver;
  Field<std::string> netdev;       // interface name
  Field<std::string> rdma_device;  // name in /sys/class/infiniband
  friend bool operator==(const PciAdapter&, const PciAdapter&) = default;
};

// Whether `name` is the address of either function of the adapter, its netdev or its RDMA device.
[[nodiscard]] bool is_called(const PciAdapter& adapter, const std::string& name);

// True for exactly the kernel's form of an address ("0000:13:00.1"), so that the text is safe as
// one component of a path.
[[nodiscard]] bool is_pci_address(std::string_view text) noexcept;

// The folder of a function in sysfs.
[[nodiscard]] RootedPath function_path(const Root& root, const std::string& address);

struct PciFunction {
  std::string address;
  std::string modalias;  // "pci:v000015ADd00000820sv…sd…bc02sc80i00"
};

// All functions on the bus, sorted by address; none on a machine without PCI.
[[nodiscard]] Result<std::vector<PciFunction>> list_functions(const Root& root);

struct PciBus {
  std::vector<PciAdapter> adapters;  // sorted by function address; empty where there is none
  // The network function in the lowest slot, with or without a driver: vSphere numbers a VM's
  // adapters in the order of their slots. Absent: there is none.
  Field<std::string> first_nic;
};

// Errors: /sys or a function's identity could not be read.
[[nodiscard]] Result<PciBus> look_at_bus(const Root& root);
[[nodiscard]] Result<std::vector<PciAdapter>> find_adapters(const Root& root);  // of the bus

}  // namespace pvrdma::probes
