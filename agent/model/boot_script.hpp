// BootScript: a script of the field's that unloads and loads vmw_pvrdma at every boot, as this
// agent does where it must. What keeps the two from working against each other.
#pragma once

#include <string>
#include <vector>

namespace pvrdma {

struct BootScript {
  std::string path;  // "/etc/rc.local", a crontab, a unit
  // It has run in this boot, or will not: only then is the driver the agent's to reload. False also
  // where that is not known.
  bool ended = false;
  friend bool operator==(const BootScript&, const BootScript&) = default;
};

// The first that has not ended; null: there is none.
[[nodiscard]] const BootScript* unfinished(const std::vector<BootScript>& scripts);

}  // namespace pvrdma
