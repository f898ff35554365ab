// SPDX-License-Identifier: GPL-2.0-or-later
// The tables of a paste by the part of the host that they are about, and the judges of each part.
// For judgement.cpp.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/text.hpp"
#include "agent/tools/doctor/host_output/judgement.hpp"

namespace pvrdma::doctor {

struct TableRow {
  const PastedTable* table;
  std::size_t row;

  [[nodiscard]] std::size_t line() const { return table->lines[row]; }
  [[nodiscard]] const std::string& operator[](std::string_view column) const {
    return table->cell(row, column);
  }
};

// A host has at most some hundred VMs, ports or NICs: a list is read up to here, so that the time
// for a hostile text stays short.
inline constexpr std::size_t kMostRows = 4096;

struct HostTables {
  std::array<std::vector<const PastedTable*>, kHostParts.size()> by_part;
  bool has_device_list = false;  // `esxcli rdma device list` was run

  [[nodiscard]] const std::vector<const PastedTable*>& tables(HostPart part) const {
    return by_part.at(static_cast<std::size_t>(part));
  }
  [[nodiscard]] std::vector<TableRow> rows(HostPart part) const {
    std::vector<TableRow> rows;
    for (const PastedTable* table : tables(part))
      for (std::size_t row = 0; row < table->rows.size() && rows.size() < kMostRows; ++row)
        rows.push_back({table, row});
    return rows;
  }
  [[nodiscard]] bool has_no_device() const {
    return has_device_list && rows(HostPart::RdmaDevices).empty();
  }
};

// The part of a paste that is one host's.
struct PastedHost {
  std::string name;                        // by its prompts; empty: they do not name it
  std::vector<const PastedTable*> tables;  // in their order
  bool has_empty_device_list = false;      // `esxcli rdma device list` was run and printed nothing
};

// hosts.cpp
// If the prompts name fewer than two hosts, all belongs to one host. Of a command that was run
// twice on a named host the later answer counts.
[[nodiscard]] std::vector<PastedHost> hosts_in(const Paste& paste);
// Adds a remark for each part whose lists contradict each other, and removes its tables.
void take_contradictions(HostTables& host, HostReading& reading);

// A remark; a Change with the command and the menu of the part.
[[nodiscard]] HostRemark remark(Weight weight, HostPart part, std::size_t line, std::string says,
                                std::string means);

[[nodiscard]] inline std::string told(const std::string& value) {
  return value.empty() ? "not told" : value;
}

// The user copies this into a shell, so a name with more than letters and digits is left out.
[[nodiscard]] bool is_plain_name(std::string_view name);

// Adds the remarks about one part.
using Judge = void(const HostTables& host, const GuestVm& guest, HostReading& reading);

// adapters.cpp
Judge judge_properties;
Judge judge_world;
// The World ID of this VM: by `esxcli vm process list`; empty: not known.
[[nodiscard]] std::string world_of(const HostTables& host, const GuestVm& guest);
// The names under which other lists may have this VM: that of the list of VMs, the guest's, and its
// short form.
[[nodiscard]] std::vector<std::string> names_of_vm(const HostTables& host, const GuestVm& guest);
// The commands for the properties that the paste lacks, one for each adapter of this VM.
[[nodiscard]] std::vector<std::string> missing_properties(const HostTables& host,
                                                          const GuestVm& guest);
// services.cpp
Judge judge_vmknic;
Judge judge_firewall;
Judge judge_rules;
Judge judge_statistics;
[[nodiscard]] std::string statistics_command(const std::string& device);
// uplinks.cpp
Judge judge_devices;
Judge judge_protocols;
Judge judge_nics;
// True where a device's driver does not tell whether it speaks RoCE.
[[nodiscard]] bool needs_protocols(const HostTables& host);
// switches.cpp
Judge judge_switches;
Judge judge_flow_control;
Judge judge_modules;

}  // namespace pvrdma::doctor
