// What of an adapter could not be read, by the names that io.pvrdma.Agent has for it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "agent/model/snapshot.hpp"

namespace pvrdma {

// "port.state", "gids[1].type": with the Error of each.
using Unreadable = std::vector<std::pair<std::string, Error>>;
[[nodiscard]] Unreadable unreadable_of(const Adapter& adapter);

}  // namespace pvrdma
