// SPDX-License-Identifier: GPL-2.0-or-later
// Places of settings in the vSphere Client (7.0 and 8.0): one place for each setting, whichever
// tool names it.
#pragma once

namespace pvrdma::menus {

// VMware, "vSphere Networking": "Edit General and Advanced vSphere Distributed Switch Settings".
inline constexpr const char* kSwitchMtu =
    "Networking > distributed switch > Configure > Settings > Properties > Edit > Advanced > MTU";
inline constexpr const char* kSwitchControl =
    "Networking > distributed switch > Configure > Settings > Properties > Edit > General > "
    "Network I/O Control";
inline constexpr const char* kSwitchVersion = "Networking > distributed switch > Summary > Version";
inline constexpr const char* kUplinks =
    "Host > Configure > Networking > Virtual switches > Manage Physical Adapters";
inline constexpr const char* kPhysicalAdapters =
    "Host > Configure > Networking > Physical adapters";
// A vendor's paper on HPC workloads: "under the RDMA tab".
inline constexpr const char* kRdmaDevices =
    "Host > Configure > Networking > Physical adapters > NIC > RDMA";
inline constexpr const char* kVmkernelAdapters =
    "Host > Configure > Networking > VMkernel adapters";
inline constexpr const char* kVmknic =
    "Host > Configure > System > Advanced System Settings > Net.PVRDMAVmknic";
inline constexpr const char* kFirewall = "Host > Configure > System > Firewall > Edit > pvrdma";
inline constexpr const char* kAdapterType =
    "VM > Edit Settings > Add New Device > Network Adapter; Adapter Type: PVRDMA; Connect At "
    "Power On (the VM must be off)";
inline constexpr const char* kAdapterConnected =
    "VM > Edit Settings > Network adapter > Status: Connected, Connect At Power On";
inline constexpr const char* kAdapterProtocol =
    "VM > Edit Settings > Network adapter > Device Protocol: RoCE v2 (the VM must be off)";
inline constexpr const char* kAdapterNetwork =
    "VM > Edit Settings > Network adapter > port group of the distributed switch";
inline constexpr const char* kHardware =
    "VM > Actions > Compatibility > Upgrade VM Compatibility (the VM must be off)";

}  // namespace pvrdma::menus
