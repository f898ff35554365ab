#include "agent/executor/facts.hpp"

#include "agent/executor/driver.hpp"
#include "agent/executor/link.hpp"
#include "probes/holders.hpp"
#include "probes/link_owner.hpp"
#include "probes/modules.hpp"

namespace pvrdma::executor {

namespace {

Field<std::string> mac_of(const Root& root, const probes::PciAdapter& pci) {
  if (pci.netdev.is_unreadable()) return Field<std::string>::unreadable(*pci.netdev.error());
  if (!pci.netdev.is_known()) return {};
  return Field<std::string>::from(read_attribute(root / "/sys/bus/pci/devices" / pci.net_function /
                                                 "net" / *pci.netdev.get() / "address"));
}

Field<LinkOwner> owner_of(const Root& root, const probes::PciAdapter& pci) {
  if (!pci.netdev.is_known()) return {};
  const auto index = interface_of(root, pci.net_function, *pci.netdev.get());
  if (!index) return Field<LinkOwner>::from(fail(index.error()));
  return probes::link_owner(root, *pci.netdev.get(), *index);
}

Field<std::vector<Holder>> holders_of(const Root& root, const std::vector<AdapterFacts>& adapters) {
  std::vector<probes::HeldDevice> devices;
  for (const AdapterFacts& adapter : adapters) {
    const auto& device = adapter.pci.rdma_device;
    if (device.is_unreadable()) return Field<std::vector<Holder>>::unreadable(*device.error());
    if (device.is_known())
      devices.push_back({*device.get(), verbs_node_name(root, adapter.pci.function)});
  }
  return probes::find_holders(root, devices);
}

}  // namespace

Facts look(const Root& root) {
  Facts facts;
  facts.driver = probes::look_at_modules(root, {}, {kDriverModule}, nullptr).front();
  auto found = probes::find_adapters(root);
  if (!found) {
    facts.holders = Field<std::vector<Holder>>::unreadable(found.error());
    facts.adapters = Field<std::vector<AdapterFacts>>::unreadable(std::move(found.error()));
    return facts;
  }
  std::vector<AdapterFacts> adapters;
  for (probes::PciAdapter& pci : *found) {
    auto mac = mac_of(root, pci);
    adapters.push_back({std::move(pci), std::move(mac), {}});
  }
  facts.holders = holders_of(root, adapters);
  facts.adapters = std::move(adapters);
  return facts;
}

void look_at_owner(const Root& root, const std::string& function, Facts& facts) {
  auto* adapters = facts.adapters.get();
  if (adapters == nullptr) return;
  for (AdapterFacts& adapter : *adapters)
    if (adapter.pci.function == function) adapter.owner = owner_of(root, adapter.pci);
}

}  // namespace pvrdma::executor
