// What a report holds and what it lacks, for programs (manifest.json) and in one line. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "agent/ctl/report/part.hpp"

namespace pvrdma::ctl::bundle {

using Json = nlohmann::json;

struct Circumstances {
  std::string version;  // of this program
  std::string made;     // RFC 3339
  bool root = false;
  bool redacted = false;
  Milliseconds took{0};
};

[[nodiscard]] Json manifest(const std::vector<Entry>& entries, const Circumstances& circumstances);

// "ibv/devinfo.txt (ibv_devinfo has hung before), pci/all.txt, pci/rdma.txt (lspci is not
// installed)"; empty: nothing is missed.
[[nodiscard]] std::string missed(const std::vector<Entry>& entries);

}  // namespace pvrdma::ctl::bundle
