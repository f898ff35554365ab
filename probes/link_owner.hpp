// Which network manager configures a link: systemd-networkd, NetworkManager or ifupdown; netplan
// works through one of the first two, and shows in the name of the file they go by.
//
// Managers are asked, or what they write about themselves is read; their configuration is not
// interpreted in their place.
#pragma once

#include <string>

#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma::probes {

// Absent: no manager runs, or is enabled and still to start, that has the link or may take it.
[[nodiscard]] Field<LinkOwner> link_owner(const Root& root, const std::string& name, int index);

// Whether a service runs: systemd keeps a link for each (src/core/unit.c,
// unit_export_invocation_id(), since systemd 236).
[[nodiscard]] bool service_runs(const Root& root, const std::string& service);

// Whether systemd starts a service at boot: something wants it, on disk or by a generator.
[[nodiscard]] bool service_is_enabled(const Root& root, const std::string& service);

}  // namespace pvrdma::probes
