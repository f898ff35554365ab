// SPDX-License-Identifier: GPL-2.0-or-later
// The RDMA devices of the host and their NICs, as pasted, and what they mean.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/tools/doctor/host_output/judgement.hpp"

namespace pvrdma::doctor {

// A row of `esxcli rdma device list`.
struct RdmaDeviceRow {
  std::size_t line = 0;
  std::string name, driver, state, uplink;
};

// A row of `esxcli network nic list`.
struct NicRow {
  std::size_t line = 0;
  std::string driver, link, mtu;
};

struct Uplinks {
  bool has_device_list = false;  // `esxcli rdma device list` was run
  std::vector<RdmaDeviceRow> devices;
  std::map<std::string, NicRow> nics;  // by name

  [[nodiscard]] bool has_no_device() const { return has_device_list && devices.empty(); }
  // False: the table is neither list.
  bool take(const PastedTable& table);
};

// Adds the remarks about both lists.
void judge_uplinks(const Uplinks& uplinks, const std::vector<GuestLink>& guest,
                   HostReading& reading);

}  // namespace pvrdma::doctor
