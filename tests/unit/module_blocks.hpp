// What keeps modules from being loaded, as the installed program module-lookup reads modprobe.d.
#pragma once

#include <string>
#include <vector>

#include "probes/modprobe_config.hpp"
#include "tests/unit/places.hpp"

namespace pvrdma::test {

inline Field<std::vector<ModuleBlock>> blocks_of(
    const Root& root, const std::vector<std::string>& modules,
    probes::ModprobeOf which = probes::ModprobeOf::ThisBoot) {
  const auto config = probes::read_modprobe_config(places::module_lookup, root, which);
  return probes::find_module_blocks(config, root, modules);
}

}  // namespace pvrdma::test
