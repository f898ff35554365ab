// What netplan's files set on Ethernet links, read by line and indentation alone. An entry that
// matches its link by something else than its name is left out, as is what is written in braces.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"

namespace pvrdma::ctl::moving {

struct NetplanLink {
  std::string file;   // "/etc/netplan/50-cloud-init.yaml"
  unsigned line = 0;  // of its name, from 1
  std::string netdev;
  std::optional<unsigned> mtu;
  std::vector<std::string> addresses;
};

// Of /etc/netplan/*.yaml that root alone can have written; files that cannot be read are passed
// over.
[[nodiscard]] std::vector<NetplanLink> netplan_links(const Root& root);

[[nodiscard]] std::vector<NetplanLink> parse_netplan(const std::string& file,
                                                     std::string_view text);

}  // namespace pvrdma::ctl::moving
