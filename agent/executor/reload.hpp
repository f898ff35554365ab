// The reload of vmw_pvrdma: remove, then insert, and never leave it out silently.
#pragma once

#include <functional>

#include "agent/model/report.hpp"

namespace pvrdma::executor {

// What a reload does to the module, so that its order can be tested without a driver.
struct DriverModule {
  std::function<Report()> rehearse;  // Done: an insertion would be tried
  std::function<Report()> remove;    // AlreadyDone: it was not loaded
  std::function<Report()> insert;
};

struct Reload {
  Report report;
  bool removed = false;  // whatever came after it
};

// Removes nothing that could not be inserted again (a block list, or a kernel update that took the
// running kernel's modules away). Not loaded: only inserts. After a removal the insertion is tried
// twice, and its failure says that the driver is out.
[[nodiscard]] Reload reload_driver(const DriverModule& module);

}  // namespace pvrdma::executor
