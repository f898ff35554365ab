// The stanzas of interfaces(5), by which Debian's ifupdown configures links.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma::probes {

struct InterfacesFile {
  std::vector<std::string> interfaces;  // with an `iface` stanza
  std::vector<std::string> sources;     // patterns of `source`, directories of `source-directory`
};

// Continued lines are joined, comments skipped; what is not understood is passed over, as it is
// ifupdown's to complain about.
[[nodiscard]] InterfacesFile parse_interfaces(std::string_view text);

// Absent: no ifupdown is installed, or no file it reads has a stanza for the interface.
[[nodiscard]] Field<LinkOwner> ifupdown_owner(const Root& root, const std::string& name);

}  // namespace pvrdma::probes
