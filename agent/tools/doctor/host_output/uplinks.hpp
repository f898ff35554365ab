// SPDX-License-Identifier: GPL-2.0-or-later
// The RDMA devices of the host and their NICs, as pasted.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/tools/doctor/host_output/tables.hpp"

namespace pvrdma::doctor {

// A row of `esxcli rdma device list`, and of `esxcli rdma device protocol list`.
struct HostDevice {
  std::size_t line = 0;
  std::string name, driver, state, uplink;
  std::string protocols{};  // "RoCE v1, RoCE v2"
  std::optional<bool> speaks_roce{};
};

// A row of `esxcli network nic list` or `esxcfg-nics -l`.
struct NicRow {
  std::size_t line = 0;
  std::string driver, link, mtu;
};

struct Uplinks {
  std::vector<HostDevice> devices;
  std::map<std::string, NicRow> nics;  // by name
  // Of the distributed switch of this VM; none: the paste does not tell that switch.
  std::optional<std::vector<std::string>> of_switch;
};

[[nodiscard]] Uplinks uplinks_of(const HostTables& host, const GuestVm& guest);
[[nodiscard]] bool works(const HostDevice& device, const Uplinks& uplinks);
[[nodiscard]] bool one_works(const Uplinks& uplinks);

// switches.cpp
[[nodiscard]] std::optional<std::vector<std::string>> switch_uplinks(const HostTables& host,
                                                                     const GuestVm& guest);

// The module with the RDMA half of a NIC's driver; null: none is known.
[[nodiscard]] const char* rdma_driver_of(std::string_view driver);
// What that module needs besides being loaded, after "; "; empty: nothing.
[[nodiscard]] const char* also_needed_by(std::string_view rdma_driver);
[[nodiscard]] bool is_rdma_driver(std::string_view module);

// The interface of this VM with the largest MTU; null: there is none.
[[nodiscard]] const GuestLink* with_largest_mtu(const GuestVm& guest);
// The remark, with the meaning of an MTU that the paste tells.
[[nodiscard]] HostRemark with_mtu(HostRemark remark, const std::string& told_mtu,
                                  const GuestLink* link);

}  // namespace pvrdma::doctor
