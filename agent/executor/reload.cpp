#include "agent/executor/reload.hpp"

namespace pvrdma::executor {

Reload reload_driver(const DriverModule& module) {
  Reload result;
  if (Report likely = module.rehearse(); !likely.good()) {
    likely.detail = "not removed, as it could not be inserted again: " + likely.detail;
    result.report = std::move(likely);
    return result;
  }
  Report removal = module.remove();
  result.removed = removal.outcome == Outcome::Done;
  if (!removal.good()) {
    result.report = std::move(removal);
    return result;
  }
  result.report = module.insert();
  if (!result.removed) return result;
  if (!result.report.good()) {
    const std::string first = result.report.detail;
    result.report = module.insert();
    if (result.report.good())
      result.report.detail = "inserted at the second try; the first failed: " + first;
    else
      result.report.detail =
          "vmw_pvrdma was removed and could not be inserted again: " + result.report.detail;
  }
  // Somebody else may have inserted it first; it was reloaded all the same.
  if (result.report.outcome == Outcome::AlreadyDone) result.report.outcome = Outcome::Done;
  return result;
}

}  // namespace pvrdma::executor
