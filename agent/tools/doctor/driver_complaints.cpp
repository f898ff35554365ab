// SPDX-License-Identifier: GPL-2.0-or-later
// Reasons in the kernel's log why a driver was not loaded, or why its probe of a function failed.
#include <map>
#include <optional>

#include "agent/base/text.hpp"
#include "agent/model/snapshot.hpp"
#include "agent/tools/doctor/survey_probe.hpp"
#include "probes/pci.hpp"

namespace pvrdma::probes {

namespace {

using Cause = DriverComplaint::Cause;

constexpr std::size_t kLongestLine = 200;  // bytes

// The driver and the modules it depends on: the kernel refuses the driver where one of these lacks
// a symbol.
bool is_of_stack(std::string_view module) {
  return module == kDriverModule || module.starts_with("ib_") || module.starts_with("rdma_") ||
         module.starts_with("iw_");
}

// "MODULE: Unknown symbol NAME (err CODE)", "MODULE: disagrees about version of symbol NAME": Linux
// kernel/module/main.c and version.c.
std::optional<Cause> cause_of_module(std::string_view message) {
  const std::string_view module = cut(message, ':');
  if (!is_of_stack(module)) return std::nullopt;
  if (message.starts_with(" disagrees about version of symbol ")) return Cause::OtherVersion;
  if (!message.starts_with(" Unknown symbol ")) return std::nullopt;
  return has_part(message, "(err -22)") ? Cause::OtherVersion : Cause::MissingSymbol;
}

// The function in a line of the driver or of the driver core: "vmw_pvrdma 0000:0b:00.1: TEXT", or
// "vmw_pvrdma: probe of 0000:0b:00.1 failed with error -14" (before Linux 6.10).
std::string function_in(std::string_view message) {
  const std::string driver = kDriverModule;
  for (const std::string& front : {driver + " ", driver + ": probe of "})
    if (message.starts_with(front)) {
      std::string_view function = message.substr(front.size());
      function = function.substr(0, function.find(' '));
      if (function.ends_with(':')) function.remove_suffix(1);
      if (is_pci_address(function)) return std::string{function};
    }
  return {};
}

// Linux drivers/infiniband/hw/vmw_pvrdma/pvrdma_main.c, drivers/base/dd.c.
std::optional<Cause> cause_of_probe(std::string_view message) {
  if (has_part(message, "failed to get vmxnet3 device")) return Cause::Order;
  if (has_part(message, "driver needs RoCE")) return Cause::NoRoce;
  if (!has_part(message, "failed with error ")) return std::nullopt;
  return message.ends_with("error -19") ? Cause::Order : Cause::Probe;
}

}  // namespace

bool is_kernels(std::string_view record) {
  const auto priority = number_from<unsigned>(cut(record, ','));
  return priority && *priority < 8;
}

std::vector<DriverComplaint> parse_driver_complaints(std::string_view records) {
  std::map<std::string, DriverComplaint> last;  // by function; "": about the module
  while (!records.empty()) {
    std::string_view message = cut(records, '\n');
    const std::string_view prefix = cut(message, ';');
    if (message.empty() || !is_kernels(prefix)) continue;
    const std::string line = printable(message, kLongestLine);
    if (const auto cause = cause_of_module(message)) last[""] = {*cause, "", line};
    const std::string function = function_in(message);
    if (function.empty()) continue;
    // The driver prints this line at the beginning of each probe: older complaints are out of date.
    if (has_part(message, ": device version ")) last.erase(function);
    // The driver's own line comes first and says more than the line of the driver core, so it
    // stays.
    const auto cause = cause_of_probe(message);
    if (cause && last.count(function) == 0) last[function] = {*cause, function, line};
  }
  std::vector<DriverComplaint> complaints;
  complaints.reserve(last.size());
  for (auto& [function, complaint] : last) complaints.push_back(std::move(complaint));
  return complaints;
}

}  // namespace pvrdma::probes
