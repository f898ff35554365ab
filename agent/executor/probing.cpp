#include "agent/executor/probing.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iterator>
#include <limits>
#include <thread>
#include <utility>

#include "agent/executor/driver.hpp"
#include "probes/pci.hpp"
#include "probes/rdma_nldev.hpp"

namespace pvrdma::executor {

namespace {

constexpr std::chrono::milliseconds kPairingPatience{2000};
constexpr std::chrono::milliseconds kPairingPause{2};

// Of its netdev; the highest where it has none here: what is in another network namespace is
// replayed last.
int interface_index(const Root& root, const probes::PciAdapter& adapter) {
  int index = std::numeric_limits<int>::max();
  if (!adapter.netdev.is_known()) return index;
  const auto text = read_attribute(root / "/sys/bus/pci/devices" / adapter.net_function / "net" /
                                   *adapter.netdev.get() / "ifindex");
  if (text) std::from_chars(text->data(), text->data() + text->size(), index);
  return index;
}

bool is_paired(const Root& root, const std::string& function) {
  const auto names = list_directory(root / "/sys/bus/pci/devices" / function / "infiniband");
  if (!names || names->empty()) return true;  // its probe failed: nothing to wait for
  auto nldev = probes::Nldev::open();
  if (!nldev) return true;
  const auto devices = nldev->devices();
  if (!devices) return true;
  const auto device =
      std::find_if(devices->begin(), devices->end(),
                   [&](const probes::NldevDevice& one) { return one.name == names->front(); });
  if (device == devices->end()) return false;  // udev renames it at this moment
  const auto port = nldev->port(device->index);
  return port && port->netdev.is_known();
}

}  // namespace

Result<std::vector<std::string>> probe_order(const Root& root) {
  const auto adapters = probes::find_adapters(root);
  if (!adapters) return fail(adapters.error());
  std::vector<std::pair<int, std::string>> order;
  for (const probes::PciAdapter& adapter : *adapters)
    if (adapter.driver.value_or(kDriverModule) == kDriverModule &&
        may_be_probed(root, adapter.function))
      order.emplace_back(interface_index(root, adapter), adapter.function);
  std::sort(order.rbegin(), order.rend());
  std::vector<std::string> functions;
  functions.reserve(order.size());
  for (auto& [index, function] : order) functions.push_back(std::move(function));
  return functions;
}

Report insert_driver(const Root& root, const std::function<Report()>& insert,
                     const std::function<void(const std::string&)>& settle) {
  const auto order = probe_order(root);
  if (!order) return failed(order.error());
  if (order->empty()) return insert();
  Result<void> ready = let_go(root, order->front());
  for (auto function = order->begin() + 1; function != order->end() && ready; ++function)
    ready = hold_back(root, *function);
  Report report = ready ? insert() : failed(ready.error());
  for (auto function = order->begin() + 1; function != order->end(); ++function) {
    if (report.good()) {
      settle(*std::prev(function));
      static_cast<void>(bind_function(root, *function));
    } else {
      static_cast<void>(let_go(root, *function));
    }
  }
  return report;
}

void await_pairing(const Root& root, const std::string& function) {
  // The driver tells nobody when it has taken note, so there is nothing to wait for but the fact.
  const auto until = std::chrono::steady_clock::now() + kPairingPatience;
  while (!is_paired(root, function) && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(kPairingPause);
}

}  // namespace pvrdma::executor
