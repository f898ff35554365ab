// What the vSphere administrator may have to mend, most likely first by what the guest sees. Pure.
#pragma once

#include <string>
#include <vector>

#include "agent/model/health.hpp"
#include "agent/tools/doctor/survey.hpp"

namespace pvrdma::doctor {

struct HostCause {
  std::string what;                   // may be so on the host
  std::string because;                // what in the guest speaks for it, or against it
  std::vector<std::string> commands;  // for the ESXi shell
  std::string menu;                   // in the vSphere Client
};

// A thing that is wrong and for the host to mend, with its causes.
struct HostTrouble {
  FindingId id = FindingId::Other;
  std::optional<std::string> adapter;  // function address
  std::string what;                    // the finding's summary
  std::vector<HostCause> causes;
};

// Of those findings whose move is the host's.
[[nodiscard]] std::vector<HostTrouble> host_troubles(const Snapshot& snapshot, const Survey& survey,
                                                     const std::vector<Finding>& findings);

}  // namespace pvrdma::doctor
