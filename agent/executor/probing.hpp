// Probing: one function of vmw_pvrdma after the other, each with the driver's event queue empty.
//
// An insertion would probe all functions in a row, which may crash the kernel
// (agent/executor/event_queue.hpp tells how).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/report.hpp"

namespace pvrdma::executor {

// The functions that vmw_pvrdma has or would probe, in PCI order. One that an administrator has
// given to another driver (driver_override) is not among them.
[[nodiscard]] Result<std::vector<std::string>> functions_to_probe(const Root& root);

// insert(), which may be a reload, with all of functions_to_probe() but the first held back, then
// binds these one by one. Where one cannot be held back, insert() is not called. The report is
// insert()'s; a probe that failed is left to the next look, as after any insertion.
[[nodiscard]] Report insert_driver(const Root& root, const std::function<Report()>& insert);

}  // namespace pvrdma::executor
