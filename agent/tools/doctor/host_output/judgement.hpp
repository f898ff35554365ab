// SPDX-License-Identifier: GPL-2.0-or-later
// Judges the pasted output of an ESXi host: its meaning for this VM, and the changes needed. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/tools/doctor/host_causes.hpp"
#include "agent/tools/survey/host_paste.hpp"

namespace pvrdma::doctor {

// An interface of a PVRDMA adapter of this VM.
struct GuestLink {
  std::string name;
  unsigned mtu = 0;          // bytes
  std::string mac{};         // lower case; empty: not known
  bool has_roce_v1 = false;  // a GID of that type
  bool has_roce_v2 = false;
};

struct GuestVm {
  std::vector<GuestLink> links{};  // in the order of their PCI functions
  std::string uuid{};              // DMI; empty: only root may read it
  std::string name{};              // of the guest: often the VM's as well
  // The VM's first NIC, eth0 on the host, is a PVRDMA adapter; none: not known.
  std::optional<bool> first_is_adapter{};
};

enum class Weight { Change, Unknown, Info, Good };  // in the order of display
[[nodiscard]] const char* to_string(Weight weight);

struct HostRemark {
  Weight weight = Weight::Unknown;
  HostPart part = HostPart::Properties;
  std::size_t line = 0;                 // line number in the paste
  std::string says;                     // what the paste says
  std::string means;                    // what that means for this VM
  std::vector<std::string> commands{};  // for the ESXi shell
  std::string menu{};                   // in the vSphere Client
  std::string host{};                   // by its prompt; empty: not named
};

struct MissingPart {
  HostPart part;
  std::string command;      // the command that would tell
  bool is_required = true;  // without it the host is not known to be good
  std::string host{};       // of several; empty: not named, or this VM's
};

struct HostReading {
  std::vector<HostRemark> remarks;  // the most important first
  std::vector<MissingPart> missing;
  std::vector<PastedText> unknown;
  std::vector<std::string> hosts;  // each that is judged; a name is empty where prompts have none
};

// Several hosts are told apart by the names in their prompts.
[[nodiscard]] HostReading judge_host_output(std::string_view text, const GuestVm& guest);

}  // namespace pvrdma::doctor
