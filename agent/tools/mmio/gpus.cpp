// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/mmio/gpus.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "probes/pci.hpp"

namespace pvrdma::probes {

namespace {

constexpr std::string_view kVendorVmware = "pci:v000015AD";  // its SVGA adapter
constexpr std::string_view kClassDisplay = "bc03sc";         // PCI_BASE_CLASS_DISPLAY, pci_ids.h
constexpr std::size_t kBars =
    6;  // of a PCI function; later lines are for its ROM and bridge windows

// include/linux/ioport.h
constexpr std::uint64_t kResourceMemory = 0x200;
constexpr std::uint64_t kResourcePrefetchable = 0x2000;

// `resource` has a line for each region: first byte, last byte, flags; all are zero where there is
// none.
std::uint64_t largest_prefetchable(const std::string& resource) {
  constexpr std::uint64_t kWanted = kResourceMemory | kResourcePrefetchable;
  std::istringstream lines{resource};
  lines >> std::setbase(0);  // hexadecimal, as "0x" says
  std::uint64_t largest = 0;
  std::uint64_t first = 0, last = 0, flags = 0;
  for (std::size_t bar = 0; bar < kBars && lines >> first >> last >> flags; ++bar)
    if ((flags & kWanted) == kWanted && last > first) largest = std::max(largest, last - first + 1);
  return largest;
}

}  // namespace

Result<std::vector<Gpu>> find_gpus(const Root& root) {
  const auto functions = list_functions(root);
  if (!functions) return fail(functions.error());
  std::vector<Gpu> gpus;
  for (const PciFunction& function : *functions) {
    if (function.modalias.find(kClassDisplay) == std::string::npos ||
        function.modalias.starts_with(kVendorVmware))
      continue;
    const auto resource = read_file(function_path(root, function.address) / "resource");
    if (!resource) return fail(resource.error());
    gpus.push_back({function.address, largest_prefetchable(*resource)});
  }
  return gpus;
}

}  // namespace pvrdma::probes
