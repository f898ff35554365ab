// Paths of a file system that is mounted somewhere else than at /: symbolic links in it lead to
// places in it, not to this machine's.
#pragma once

#include <string>

#include "agent/base/file.hpp"

namespace pvrdma::probes {

// `absolute` with every symbolic link resolved below `root`: "/etc/rc.local" ->
// "/etc/rc.d/rc.local". Components that do not exist stay as they are. ELOOP after forty links.
[[nodiscard]] Result<std::string> resolve_below(const Root& root, const std::string& absolute);

}  // namespace pvrdma::probes
