// SPDX-License-Identifier: GPL-2.0-or-later
// The rows of `doctor` about the adapters and their modules: hardware, kernel, link, port.
#include <algorithm>

#include "agent/base/text.hpp"
#include "agent/plan/questions.hpp"
#include "agent/tools/doctor/rows.hpp"

namespace pvrdma::doctor {

namespace {

std::string word(const Field<std::string>& field, const char* absent) {
  if (field.is_known()) return *field.get();
  return field.is_absent() ? absent : "unreadable";
}

template <has_words Enum>
std::string word(const Field<Enum>& field, const char* absent) {
  return word_or(field, field.is_absent() ? absent : "unreadable");
}

std::string word(const Field<bool>& field, const char* yes, const char* no) {
  if (field.is_known()) return *field.get() ? yes : no;
  return std::string{yes} + (field.is_absent() ? ": not told" : ": unreadable");
}

// "0000:13:00.1 (vmw_pvrdma) with 0000:13:00.0 (vmxnet3, ens224f0)"
std::string pair_line(const Adapter& adapter) {
  const Netdev* netdev = adapter.netdev.get();
  return adapter.function + " (" + word(adapter.driver, "no driver") + ") with " +
         adapter.net_function + " (" + word(adapter.net_driver, "no driver") + ", " +
         (netdev != nullptr ? netdev->name : "no interface here") + ")";
}

void add_once(std::vector<std::string>& lines, std::string line) {
  if (!contains(lines, line)) lines.push_back(std::move(line));
}

std::string module_line(const Module& module) {
  std::string line = module.name + ": ";
  if (module.init.is_known())
    line += to_string(*module.init.get());
  else
    line += module.init.is_absent() ? "not loaded" : "unreadable";
  if (module.shipped.is_known()) line += std::string{", "} + to_string(*module.shipped.get());
  if (module.refcount.is_known()) line += ", used " + std::to_string(*module.refcount.get()) + "x";
  return line;
}

std::string link_line(const Netdev& netdev) {
  std::string line = netdev.name + ": " + (netdev.link_up ? "up" : "down") + ", " +
                     word(netdev.carrier, "carrier", "no carrier") + ", MTU " +
                     std::to_string(netdev.mtu) + ", MAC " + netdev.mac;
  if (const LinkOwner* owner = netdev.owner.get())
    line += std::string{", of "} + to_string(owner->manager);
  std::vector<std::string> addresses;
  for (const LinkAddress& address : netdev.addresses)
    addresses.push_back(address.text + (address.duplicate ? " (duplicate)" : ""));
  line += ", " + (addresses.empty() ? "no address" : joined(addresses));
  if (netdev.default_route.is(true)) line += ", default route";
  return line;
}

Standing standing_of(const RdmaDevice& rdma) {
  if (rdma.port.state.is_absent()) return Standing::Unknown;
  return rdma.port.state.is(PortState::Active) && rdma.netdev.is_known() ? Standing::Good
                                                                         : Standing::Plain;
}

}  // namespace

Check hardware(const Snapshot& snapshot, const Survey& survey) {
  Check check{"adapters", Concern::Adapters};
  tell(check, survey.vendor, "machine: DMI does not say", [&](const std::string& vendor) {
    return "machine: " + vendor + " " + survey.product.value_or("");
  });
  if (const std::string* name = survey.virtualization.get())
    check.note("machine, by systemd: " + *name);
  if (const auto* adapters = fact(check, snapshot.adapters, "adapters: not looked at")) {
    const bool bound = std::all_of(adapters->begin(), adapters->end(), [](const Adapter& adapter) {
      return adapter.driver.is(kDriverModule) && adapter.net_driver.is_known();
    });
    check.add(!adapters->empty() && bound ? Standing::Good : Standing::Plain,
              listed(*adapters, "no PVRDMA function (15ad:0820)", pair_line, "; "));
    for (const Adapter& adapter : *adapters) {
      take_error(check, adapter.driver);
      take_error(check, adapter.net_driver);
    }
  }
  tell(check, survey.mellanox, "", [](const std::vector<std::string>& functions) {
    return functions.empty() ? std::string{"no other RDMA adapter is passed through"}
                             : "passed through: " + joined(functions);
  });
  return check;
}

// In the order in which they were loaded: the driver must have been loaded last.
Check modules(const Snapshot& snapshot) {
  Check check{"modules", Concern::Modules};
  std::vector<const Module*> sorted;
  for (const Module& module : snapshot.modules) sorted.push_back(&module);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Module* a, const Module* b) {
    return a->load_order.value_or(~0U) < b->load_order.value_or(~0U);
  });
  for (const Module* module : sorted) {
    check.add(is_live(*module) ? Standing::Good : Standing::Plain, module_line(*module));
    for (const Error* error : {module->init.error(), module->shipped.error()})
      if (error != nullptr) add_once(check.unread, error->message());
  }
  return check;
}

Check refusals(const Snapshot& snapshot, const Survey& survey) {
  Check check{"blocks", Concern::Blocks};
  if (const auto* blocks = fact(check, survey.blocks, "block lists: not looked at"))
    check.add(blocks->empty() ? Standing::Good : Standing::Plain,
              listed(
                  *blocks, "modprobe.d and the command line block no module",
                  [](const ModuleBlock& block) { return block.module + ": " + block.how; }, "; "));
  if (const auto* claims = survey.claims.get())
    for (const FunctionClaim& claim : *claims)
      check.plain(claim.driver + " takes " + claim.ids + ": " + claim.how);
  tell(check, survey.secure_boot, "Secure Boot: not booted by EFI",
       [](bool on) { return std::string{"Secure Boot: "} + (on ? "on" : "off"); });
  const Module* driver = snapshot.module(kDriverModule);
  if (driver != nullptr && driver->shipped.is(Shipped::Loadable))
    tell(check, survey.driver_signer, "vmw_pvrdma is not signed",
         [](const std::string& signer) { return "vmw_pvrdma is signed by " + signer; });
  return check;
}

Check links(const Snapshot& snapshot) {
  Check check{"links", Concern::Links};
  for (const Adapter& adapter : snapshot.adapters.value_or({})) {
    take_error(check, adapter.netdev);
    const Netdev* netdev = adapter.netdev.get();
    if (netdev == nullptr) {
      if (adapter.netdev.is_absent()) check.plain(adapter.net_function + ": no interface here");
      continue;
    }
    const bool works = netdev->link_up && netdev->carrier.is(true);
    check.add(works ? Standing::Good : Standing::Plain, link_line(*netdev));
    take_error(check, netdev->carrier);
    take_error(check, netdev->owner);
    take_error(check, netdev->default_route);
  }
  return check;
}

Check ports(const Snapshot& snapshot) {
  Check check{"ports", Concern::Ports};
  for (const Adapter& adapter : snapshot.adapters.value_or({})) {
    take_error(check, adapter.rdma_device);
    const RdmaDevice* rdma = adapter.rdma_device.get();
    if (rdma == nullptr) {
      if (adapter.rdma_device.is_absent()) check.plain(adapter.function + ": no RDMA device");
      continue;
    }
    const Port& port = rdma->port;
    check.add(standing_of(*rdma), rdma->name + ": port " + word(port.state, "without a state") +
                                      ", " + word(port.phys_state, "physical state not told") +
                                      ", " + word(port.link_layer, "link layer not told") +
                                      ", netdev " + word(rdma->netdev, "none"));
    take_error(check, port.state);
    take_error(check, port.phys_state);
    take_error(check, rdma->netdev);
  }
  return check;
}

Check gids(const Config& config, const Snapshot& snapshot) {
  Check check{"GIDs", Concern::Gids};
  for (const Adapter& adapter : snapshot.adapters.value_or({})) {
    const RdmaDevice* rdma = adapter.rdma_device.get();
    if (rdma == nullptr) continue;
    if (rdma->gids.empty()) {
      check.plain(rdma->name + ": none");
      continue;
    }
    const auto chosen = application_gid(config, adapter);
    for (const Gid& gid : rdma->gids) {
      const bool is_chosen = chosen && chosen->index == gid.index;
      check.note(rdma->name + " " + std::to_string(gid.index) + ": " + gid.gid + ", " +
                 word(gid.type, "type not told") + (is_chosen ? " (for applications)" : ""));
      take_error(check, gid.type);
    }
    check.count(chosen ? Standing::Good : Standing::Plain);
    if (has_only_roce_v1(rdma->gids))
      check.note(rdma->name +
                 ": RoCE v1 only, which no router forwards: \"Device Protocol\" of the adapter in "
                 "vSphere chooses RoCE v1 or v2");
  }
  return check;
}

}  // namespace pvrdma::doctor
