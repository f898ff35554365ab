// Which part of the configuration speaks about which adapter.
#pragma once

#include "agent/model/config.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma {

[[nodiscard]] bool matches(const AdapterMatch& match, const Adapter& adapter);

// The first [[adapter]] that matches; null: none, the defaults hold.
[[nodiscard]] const AdapterConfig* config_of(const Config& config, const Adapter& adapter);

// True where the agent may change the adapter's link.
[[nodiscard]] bool link_is_ours(const Config& config, const Adapter& adapter);

}  // namespace pvrdma
