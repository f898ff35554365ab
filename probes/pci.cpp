#include "probes/pci.hpp"

#include <algorithm>
#include <cerrno>

namespace pvrdma::probes {

namespace {

constexpr const char* kDevices = "/sys/bus/pci/devices";
constexpr const char* kVendorVmware = "0x15ad";
constexpr const char* kDevicePvrdma = "0x0820";
constexpr const char* kDeviceVmxnet3 = "0x07b0";
constexpr const char* kClassNetwork = "0x02";  // include/linux/pci_ids.h, PCI_BASE_CLASS_NETWORK

std::filesystem::path function_path(const Root& root, const std::string& address) {
  return root / kDevices / address;
}

// `device` is looked at first: it rules out nearly every function of a VM with one read.
Result<bool> has_identity(const std::filesystem::path& function, const char* device) {
  const auto attribute_is = [&](const char* name, const char* wanted) {
    return read_attribute(function / name).map([&](const std::string& text) {
      return text == wanted;
    });
  };
  auto same = attribute_is("device", device);
  if (same && *same) same = attribute_is("vendor", kVendorVmware);
  // Hot-removed between the listing and the look.
  if (!same && means_absent(same.error())) return false;
  return same;
}

// The one entry of a function's class directory ("net", "infiniband"); absent without a driver.
Field<std::string> first_entry(const std::filesystem::path& directory) {
  auto names = list_directory(directory);
  if (!names) return Field<std::string>::from(fail(std::move(names.error())));
  if (names->empty()) return {};
  return std::move(names->front());
}

std::string function_zero(std::string address) {
  address.back() = '0';
  return address;
}

Result<PciAdapter> look_at_adapter(const Root& root, const std::string& address) {
  const auto function = function_path(root, address);
  PciAdapter adapter;
  adapter.function = address;
  adapter.net_function = function_zero(address);
  adapter.driver = Field<std::string>::from(link_target_name(function / "driver"));
  adapter.rdma_device = first_entry(function / "infiniband");
  const auto net_function = function_path(root, adapter.net_function);
  const auto is_vmxnet3 = has_identity(net_function, kDeviceVmxnet3);
  if (!is_vmxnet3) return fail(is_vmxnet3.error());
  if (*is_vmxnet3) {
    adapter.net_driver = Field<std::string>::from(link_target_name(net_function / "driver"));
    adapter.netdev = first_entry(net_function / "net");
  }
  return adapter;
}

bool is_hex(char c) noexcept { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

}  // namespace

bool is_pci_address(std::string_view text) noexcept {
  // The domain has four digits or more: VMD and Hyper-V number theirs above 0xffff.
  constexpr std::string_view kTail = ":hh:hh.f";
  if (text.size() < 4 + kTail.size() || text.size() > 8 + kTail.size()) return false;
  const std::string_view domain = text.substr(0, text.size() - kTail.size());
  if (!std::all_of(domain.begin(), domain.end(), is_hex)) return false;
  text.remove_prefix(domain.size());
  for (std::size_t at = 0; at < kTail.size(); ++at) {
    const char c = text[at];
    const char want = kTail[at];
    if (want == 'h' ? !is_hex(c) : want == 'f' ? (c < '0' || c > '7') : c != want) return false;
  }
  return true;
}

Result<std::vector<PciAdapter>> find_adapters(const Root& root) {
  std::vector<PciAdapter> adapters;
  const auto addresses = list_directory(root / kDevices);
  if (!addresses) {
    // A machine without PCI has no adapters; one without sysfs could have any number.
    if (means_absent(addresses.error()) && list_directory(root / "/sys/bus")) return adapters;
    return fail(addresses.error());
  }
  for (const std::string& address : *addresses) {
    if (!is_pci_address(address)) continue;
    const auto is_ours = has_identity(function_path(root, address), kDevicePvrdma);
    if (!is_ours) return fail(is_ours.error());
    if (!*is_ours) continue;
    auto adapter = look_at_adapter(root, address);
    if (!adapter) return fail(std::move(adapter.error()));
    adapters.push_back(std::move(*adapter));
  }
  return adapters;
}

Field<std::string> first_nic(const Root& root) {
  const auto addresses = list_directory(root / kDevices);
  if (!addresses) return Field<std::string>::from(fail(addresses.error()));
  for (const std::string& address : *addresses) {
    const auto code = read_attribute(function_path(root, address) / "class");
    if (code && code->starts_with(kClassNetwork)) return address;
  }
  return {};
}

Result<bool> is_pvrdma_function(const Root& root, const std::string& address) {
  if (!is_pci_address(address)) return fail(EINVAL, "taking for a PCI address", address);
  return has_identity(function_path(root, address), kDevicePvrdma);
}

}  // namespace pvrdma::probes
