// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/executor/guard.hpp"

#include <cerrno>

#include "agent/base/text.hpp"
#include "agent/model/adapter_match.hpp"

namespace pvrdma::executor {

namespace {

using Refusal = std::optional<OperationResult>;

Refusal refuse(std::string reason, int code = EPERM) {
  return OperationResult{Outcome::NotAllowed, std::move(reason), code, {}};
}

Refusal refuse_unread(const std::string& what, const Error* error) {
  return refuse(
      what + (error == nullptr ? " is not known" : " cannot be read: " + error->message()),
      error == nullptr ? EPERM : error->code);
}

OperationResult in_use(std::vector<Holder> holders) {
  std::string detail = "in use by " + describe(holders);
  return {Outcome::InUse, std::move(detail), EBUSY, std::move(holders)};
}

// nldev may not name all holders: a process may be in another PID namespace, or the kernel's list
// may be incomplete. The refcount decides.
Refusal refuse_unnamed_users(const Facts& facts) {
  const auto& count = facts.driver.refcount;
  if (count.is_unreadable())
    return refuse_unread("the reference count of vmw_pvrdma", count.error());
  if (count.is_known() && *count.get() != 0)
    return OperationResult{Outcome::InUse,
                           "vmw_pvrdma is used " + std::to_string(*count.get()) +
                               " times, by processes that cannot be named",
                           EBUSY,
                           {}};
  return std::nullopt;
}

// A reload would bring the RDMA device back to this namespace and take it from a container.
Refusal refuse_if_elsewhere(const Facts& facts) {
  for (const AdapterFacts& adapter : facts.adapters.value_or({}))
    if (adapter.pci.driver.is(kDriverModule) && adapter.pci.rdma_device.is_absent())
      return refuse("the RDMA device of " + adapter.pci.function +
                    " is in another network namespace");
  return std::nullopt;
}

Refusal refuse_if_held(const Facts& facts) {
  if (auto no = refuse_if_elsewhere(facts)) return no;
  const auto* holders = facts.holders.get();
  if (holders == nullptr) return refuse_unread("who holds the adapters", facts.holders.error());
  if (!holders->empty()) return in_use(*holders);
  return refuse_unnamed_users(facts);
}

Refusal refuse_unknown_function(const Facts& facts, const std::string& function) {
  if (!facts.adapters.is_known()) return refuse_unread("the PCI bus", facts.adapters.error());
  if (find(facts, function) == nullptr)
    return refuse(function + " is not a PVRDMA function (15ad:0820)", ENODEV);
  return std::nullopt;
}

// Linux 6.12 oopses in pvrdma_netdevice_event_work when the paired netdev comes up while vmw_pvrdma
// still probes (initstate `coming`), and after that every unload hangs for ever.
Refusal refuse_unless_live(const Facts& facts) {
  if (is_live(facts.driver)) return std::nullopt;
  const auto& init = facts.driver.init;
  if (init.is_unreadable()) return refuse_unread("the state of vmw_pvrdma", init.error());
  if (init.is_absent()) return refuse("vmw_pvrdma is not loaded", ENODEV);
  return refuse(std::string{"vmw_pvrdma is not live yet, but "} + to_string(*init.get()), EAGAIN);
}

Refusal refuse_by_policy(const Config& config) {
  if (config.modules.reload != ReloadPolicy::Never) return std::nullopt;
  return refuse("modules.reload = \"never\" forbids unloading and rebinding vmw_pvrdma");
}

Refusal refuse_foreign_link(const AdapterFacts& adapter, const std::string& netdev) {
  const auto& pair = adapter.pci.netdev;
  if (!pair.is_known()) return refuse_unread("the link of " + adapter.pci.function, pair.error());
  if (pair.is(netdev)) return std::nullopt;
  return refuse(netdev + " is not the link of " + adapter.pci.function + " (" + *pair.get() +
                " is)");
}

Refusal refuse_managed_link(const AdapterConfig& entry, const AdapterFacts& adapter) {
  if (entry.manage == Manage::Observe)
    return refuse("the configuration says manage = \"observe\" for this adapter");
  if (entry.manage == Manage::Agent) return std::nullopt;
  if (adapter.owner.is_unreadable())
    return refuse_unread("the network manager of the link", adapter.owner.error());
  const LinkOwner* owner = adapter.owner.get();
  if (owner == nullptr || !owner->decided) return std::nullopt;
  return refuse(describe(*owner) + " configures the link, and manage = \"auto\" leaves it to that");
}

Refusal refuse_unconfigured(const ConfigureLink& operation, const AdapterConfig& entry) {
  if (operation.mtu && entry.mtu != operation.mtu)
    return refuse("MTU " + std::to_string(*operation.mtu) +
                  " is not what the configuration says for this adapter");
  for (const std::string& address : operation.addresses)
    if (!contains(entry.addresses, address))
      return refuse(address + " is not an address of this adapter's configuration");
  return std::nullopt;
}

struct Guard {
  const Config& config;
  const Facts& facts;

  Refusal operator()(const LoadModule& operation) const {
    if (contains(config.modules.before, operation.module) || drives_adapters(operation.module))
      return std::nullopt;
    return refuse(operation.module + " is not in modules.before");
  }

  Refusal operator()(const BindFunction& operation) const {
    if (auto no = refuse_unknown_function(facts, operation.function)) return no;
    if (auto no = refuse_unless_live(facts)) return no;
    const probes::PciAdapter& pci = find(facts, operation.function)->pci;
    if (pci.driver.is_unreadable())
      return refuse_unread("the function's driver", pci.driver.error());
    if (pci.driver.is_known() && !pci.driver.is(kDriverModule))
      return refuse(pci.function + " is bound to " + *pci.driver.get(), EBUSY);
    // The driver's release waits in the kernel for holders, and a bind would wait for the release.
    if (pci.driver.is_absent() && pci.rdma_device.is_unreadable())
      return refuse_unread("the function's RDMA device", pci.rdma_device.error());
    if (pci.driver.is_absent() && pci.rdma_device.is_known())
      return refuse("vmw_pvrdma has not released " + pci.function + " yet", EBUSY);
    return std::nullopt;
  }

  Refusal operator()(const RebindFunction& operation) const {
    if (auto no = refuse_unknown_function(facts, operation.function)) return no;
    if (auto no = refuse_by_policy(config)) return no;
    if (auto no = refuse_unless_live(facts)) return no;
    if (!facts.driver.init.is(ModuleInit::BuiltIn))
      return refuse("vmw_pvrdma can be unloaded, so it is not rebound but reloaded");
    if (facts.adapters.get()->size() > 1)
      return refuse("an unbind would take the netdevs of the other adapters away");
    const auto& driver = find(facts, operation.function)->pci.driver;
    if (driver.is_unreadable()) return refuse_unread("the function's driver", driver.error());
    if (!driver.is(kDriverModule))
      return refuse(operation.function + " is not bound to vmw_pvrdma", ENODEV);
    return refuse_if_held(facts);
  }

  Refusal operator()(const ReloadDriver&) const {
    if (auto no = refuse_by_policy(config)) return no;
    const auto& init = facts.driver.init;
    if (init.is_absent()) return std::nullopt;  // no process can lose anything
    if (init.is(ModuleInit::BuiltIn)) return refuse("vmw_pvrdma is built into the kernel");
    if (auto no = refuse_unless_live(facts)) return no;
    if (!facts.driver.refcount.is_known())
      return refuse_unread("the reference count of vmw_pvrdma", facts.driver.refcount.error());
    return refuse_if_held(facts);
  }

  Refusal operator()(const ConfigureLink& operation) const {
    if (auto no = refuse_unknown_function(facts, operation.function)) return no;
    if (auto no = refuse_unless_live(facts)) return no;
    const AdapterFacts& adapter = *find(facts, operation.function);
    if (auto no = refuse_foreign_link(adapter, operation.netdev)) return no;
    const auto entry = config_of(config, adapter);
    if (!entry) return refuse_unread("the configuration of this adapter", &entry.error());
    if (auto no = refuse_managed_link(**entry, adapter)) return no;
    if (auto no = refuse_unconfigured(operation, **entry)) return no;
    // vmxnet3 resets a device that is up for a new MTU (vmxnet3_change_mtu(), drivers/net/vmxnet3).
    if (operation.mtu && !adapter.mtu.is(*operation.mtu) && !adapter.link_up.is(false))
      return adapter_refusal(facts, adapter);
    return std::nullopt;
  }
};

}  // namespace

const AdapterFacts* find(const Facts& facts, const std::string& function) {
  if (!facts.adapters.is_known()) return nullptr;
  return find_in(
      *facts.adapters.get(), function,
      [](const AdapterFacts& one) -> const auto& { return one.pci.function; });
}

Result<const AdapterConfig*> config_of(const Config& config, const AdapterFacts& adapter) {
  const auto& pci = adapter.pci;
  return find_config(
      config, {pci.function, pci.net_function, pci.netdev, adapter.mac, adapter.permanent_mac});
}

// Holders of other adapters do not count, as a change of a link affects its own adapter only.
std::optional<OperationResult> adapter_refusal(const Facts& facts, const AdapterFacts& adapter) {
  const auto* holders = facts.holders.get();
  if (holders == nullptr) return refuse_unread("who holds the adapters", facts.holders.error());
  const auto& device = adapter.pci.rdma_device;
  if (device.is_unreadable()) return refuse_unread("the adapter's RDMA device", device.error());
  std::vector<Holder> own;
  for (const Holder& holder : *holders)
    if (holder.rdma_device.empty() || device.is(holder.rdma_device)) own.push_back(holder);
  if (!own.empty()) return in_use(std::move(own));
  // Only the refcount shows holders of a device that is not visible.
  return holders->empty() || !device.is_known() ? refuse_unnamed_users(facts) : std::nullopt;
}

std::optional<OperationResult> refusal(const Operation& operation, const Config& config,
                                       const Facts& facts) {
  return std::visit(Guard{config, facts}, operation);
}

}  // namespace pvrdma::executor
