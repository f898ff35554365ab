// systemd-networkd's word about a link, from the state it keeps in /run/systemd/netif/links
// (src/network/networkd-link.c, link_save(); sd_network_link_get_setup_state() reads the same).
#pragma once

#include <string>

#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma::probes {

// The content of a link's state file. Absent: networkd leaves the link alone.
[[nodiscard]] Field<LinkOwner> parse_networkd_link(const std::string& state);

// Absent: networkd does not run and is not enabled either, or leaves the link alone.
[[nodiscard]] Field<LinkOwner> networkd_owner(const Root& root, int index);

}  // namespace pvrdma::probes
