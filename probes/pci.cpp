// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/pci.hpp"

#include <algorithm>
#include <utility>

#include "agent/base/text.hpp"

namespace pvrdma::probes {

namespace {

constexpr const char* kDevices = "/sys/bus/pci/devices";
// The form of a function's identity in `modalias` (drivers/pci/pci-sysfs.c): vendor and device with
// eight digits each, later the class with two.
constexpr std::string_view kPvrdma = "pci:v000015ADd00000820";
constexpr std::string_view kVmxnet3 = "pci:v000015ADd000007B0";
constexpr std::string_view kClassNetwork =
    "bc02sc";  // include/linux/pci_ids.h, PCI_BASE_CLASS_NETWORK

// Reads vendor, device and class at once; empty for a function that was hot-removed after the
// listing.
Result<std::string> identity_of(const std::filesystem::path& function) {
  auto alias = read_attribute(function / "modalias");
  if (!alias && means_absent(alias.error())) return std::string{};
  return alias;
}

// The only entry of a function's class directory ("net", "infiniband"); absent without a driver.
Field<std::string> first_entry(const std::filesystem::path& directory) {
  auto names = list_directory(directory);
  if (!names) return Field<std::string>::from(fail(std::move(names.error())));
  if (names->empty()) return {};
  return std::move(names->front());
}

Result<PciAdapter> look_at_adapter(const Root& root, const std::string& address) {
  const std::filesystem::path function = function_path(root, address);
  PciAdapter adapter;
  adapter.function = address;
  adapter.net_function = address;
  adapter.net_function.back() = '0';
  adapter.driver = Field<std::string>::from(link_target_name(function / "driver"));
  adapter.rdma_device = first_entry(function / "infiniband");
  const std::filesystem::path net_function = function_path(root, adapter.net_function);
  const auto identity = identity_of(net_function);
  if (!identity) return fail(identity.error());
  if (identity->starts_with(kVmxnet3)) {
    adapter.net_driver = Field<std::string>::from(link_target_name(net_function / "driver"));
    adapter.netdev = first_entry(net_function / "net");
  }
  return adapter;
}

// A key that orders functions as vSphere numbers their slots, FFF.BBBBB.DDDDD: by function and
// device of the bridge above, then by their own device. Buses are numbered by the bridge's device
// first.
std::pair<std::string, std::string> slot_of(const Root& root, const std::string& address) {
  std::error_code none;  // ignored: a test's tree has no links
  const std::filesystem::path place = function_path(root, address);
  const auto bridge = std::filesystem::read_symlink(place, none).parent_path().filename().string();
  return {is_pci_address(bridge) ? bridge.back() + bridge : std::string{}, address};
}

}  // namespace

RootedPath function_path(const Root& root, const std::string& address) {
  return root / kDevices / address;
}

bool is_called(const PciAdapter& adapter, const std::string& name) {
  return adapter.function == name || adapter.net_function == name || adapter.netdev.is(name) ||
         adapter.rdma_device.is(name);
}

bool is_pci_address(std::string_view text) noexcept {
  // The domain has four digits or more: VMD and Hyper-V use domains above 0xffff.
  constexpr std::string_view kForm = "hhhhhhhh:hh:hh.f";
  constexpr std::size_t kOptional = 4;
  if (text.size() > kForm.size() || text.size() < kForm.size() - kOptional) return false;
  return std::ranges::equal(text, kForm.substr(kForm.size() - text.size()), [](char c, char form) {
    if (form == 'h') return is_digit(c) || (c >= 'a' && c <= 'f');
    return form == 'f' ? c >= '0' && c <= '7' : c == form;
  });
}

Result<std::vector<PciFunction>> list_functions(const Root& root) {
  std::vector<PciFunction> functions;
  const auto addresses = list_directory(root / kDevices);
  if (!addresses) {
    // A machine without PCI has no adapters; without sysfs the number of adapters is not known.
    if (means_absent(addresses.error()) && list_directory(root / "/sys/bus")) return functions;
    return fail(addresses.error());
  }
  for (const std::string& address : *addresses) {
    if (!is_pci_address(address)) continue;
    auto identity = identity_of(function_path(root, address));
    if (!identity) return fail(std::move(identity.error()));
    functions.push_back({address, std::move(*identity)});
  }
  return functions;
}

Result<PciBus> look_at_bus(const Root& root) {
  const auto functions = list_functions(root);
  if (!functions) return fail(functions.error());
  PciBus bus;
  for (const PciFunction& function : *functions) {
    if (has_part(function.modalias, kClassNetwork) &&
        (bus.first_nic.is_absent() ||
         slot_of(root, function.address) < slot_of(root, *bus.first_nic.get())))
      bus.first_nic = function.address;
    if (!function.modalias.starts_with(kPvrdma)) continue;
    auto adapter = look_at_adapter(root, function.address);
    if (!adapter) return fail(std::move(adapter.error()));
    bus.adapters.push_back(std::move(*adapter));
  }
  return bus;
}

Result<std::vector<PciAdapter>> find_adapters(const Root& root) {
  return look_at_bus(root).map([](PciBus bus) { return std::move(bus.adapters); });
}

}  // namespace pvrdma::probes
