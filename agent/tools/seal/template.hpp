// SPDX-License-Identifier: GPL-2.0-or-later
// Data of this VM alone that a template would hand down to every clone: MAC addresses, UUIDs, IP
// addresses, the machine-id, the agent's own notes, a stale initramfs, and scripts that reload the
// driver. Read-only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/config.hpp"

namespace pvrdma::probes {

// cloud-init's settings. A network in them counts before that of the datasource.
inline constexpr const char* kCloudSettings = "/etc/cloud/cloud.cfg.d";

enum class TraceKind {
  Mac,       // of a network interface, in a network or udev configuration
  Uuid,      // of a connection profile
  Address,   // a static IP address in a network configuration
  AgentMac,  // in the agent's own configuration
  AgentAddress,
  MachineId,
  Initramfs,  // older than the files that belong into it
  Recipe,     // a line that loads or reloads the driver
};

struct Trace {
  TraceKind kind = TraceKind::Mac;
  std::string path;   // path below the root
  unsigned line = 0;  // from 1; 0: the whole file
  std::string what;   // the MAC, the address, …
  friend bool operator==(const Trace&, const Trace&) = default;
};

struct Traces {
  std::vector<Trace> found;
  std::vector<Error> unreadable;
};

// `config` and `files`: the agent's configuration in that system, and its files. `module_lookup`:
// the path of that program.
[[nodiscard]] Traces find_traces(const Root& root, const Config& config,
                                 const std::vector<std::string>& files,
                                 const std::string& module_lookup);

// Finds, in the text of a network configuration without its comments: MACs ("00:50:56:8a:9f:c2",
// also with dashes), UUIDs, and IPv4 addresses that a host can have, with a prefix length or after
// IPADDR= or "address", but not a name server's of cloud-init. Finds `addresses`, which are
// canonical, too. `path` goes into each trace.
[[nodiscard]] std::vector<Trace> traces_in(const std::string& path, std::string_view text,
                                           const std::vector<std::string>& addresses = {});

}  // namespace pvrdma::probes
