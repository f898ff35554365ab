// A look at the surroundings in which applications use an adapter: what `doctor` has beside a
// Snapshot. Read-only, unprivileged, and without the agent.
#pragma once

#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/tools/doctor/survey.hpp"

namespace pvrdma::probes {

struct SurveyOptions {
  Root root;
  std::string kernel;                // release of the running one; empty: not known
  std::vector<std::string> modules;  // that should load: the driver, and what goes before it
  std::vector<std::string> units;    // whose limits are wanted: "slurmd"
  std::string library_path;          // LD_LIBRARY_PATH
  std::string module_lookup;         // path of the program that asks libkmod
};

[[nodiscard]] Survey survey(const SurveyOptions& options);

// The nodes of /dev/infiniband. Absent: no such folder.
[[nodiscard]] Field<std::vector<DeviceNode>> device_nodes(const Root& root);

}  // namespace pvrdma::probes
