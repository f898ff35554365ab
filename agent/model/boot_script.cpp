#include "agent/model/boot_script.hpp"

#include <algorithm>

namespace pvrdma {

const BootScript* unfinished(const std::vector<BootScript>& scripts) {
  const auto found = std::find_if(scripts.begin(), scripts.end(),
                                  [](const BootScript& script) { return !script.ended; });
  return found == scripts.end() ? nullptr : &*found;
}

}  // namespace pvrdma
