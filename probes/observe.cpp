// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/observe.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "probes/address_records.hpp"
#include "probes/customization.hpp"
#include "probes/holders.hpp"
#include "probes/initramfs.hpp"
#include "probes/link_owner.hpp"
#include "probes/modprobe_config.hpp"
#include "probes/module_lookup.hpp"
#include "probes/netdevs.hpp"
#include "probes/pci.hpp"
#include "probes/rdma.hpp"
#include "probes/udev.hpp"

namespace pvrdma::probes {

namespace {

constexpr std::size_t kAliasLimit = 8;
// A failed call of verbs, for instance without a provider, is repeated after this time.
constexpr Milliseconds kVerbsAgain{30'000};

std::vector<Module> reported_modules(const Instruments& with, const Look& look,
                                     const Field<std::string>& kernel) {
  std::vector<std::string> names = look.modules;
  names.emplace_back(kNetModule);
  names.emplace_back(kDriverModule);
  return look_at_modules(with.root, kernel, names, look.previous, with.find_shipped,
                         with.read_modprobe);
}

// The adapter in an earlier look, or null.
const Adapter* adapter_before(const Snapshot* previous, const std::string& function) {
  return previous != nullptr ? previous->adapter(function) : nullptr;
}

const RdmaDevice* device_before(const Snapshot* previous, const std::string& function) {
  const Adapter* adapter = adapter_before(previous, function);
  return adapter != nullptr ? adapter->rdma_device.get() : nullptr;
}

// udev handles an interface once, so a settled interface stays settled. If udev changed the name
// between the read of the name and that of udev's database, the interface is not settled yet: the
// next look has the new name.
Field<bool> settled(const Root& root, const Adapter* before, const std::string& net_function,
                    const Netdev& now) {
  const Netdev* netdev = before != nullptr ? before->netdev.get() : nullptr;
  if (netdev != nullptr && netdev->index == now.index && netdev->settled.is(true)) return true;
  Field<bool> settled = udev_settled(root, now.index);
  const auto name = function_path(root, net_function) / "net" / now.name;
  if (settled.is(true) && !is_there(name).value_or(true)) return false;
  if (settled.is(false) && was_renamed(name)) return true;
  return settled;
}

// The netdev of each adapter, in order.
std::vector<Field<Netdev>> look_at_links(const std::vector<PciAdapter>& functions) {
  std::vector<std::string> names;
  for (const PciAdapter& function : functions)
    if (const std::string* name = function.netdev.get()) names.push_back(*name);
  const std::vector<Field<Netdev>> found = look_at_netdevs(names);
  std::vector<Field<Netdev>> links(functions.size());
  auto next = found.begin();
  for (std::size_t at = 0; at < functions.size(); ++at) {
    if (functions[at].netdev.is_known())
      links[at] = *next++;
    else if (const Error* error = functions[at].netdev.error())
      links[at] = Field<Netdev>::unreadable(*error);
  }
  return links;
}

// The RDMA device of each adapter, in order.
std::vector<Field<RdmaDevice>> look_at_devices(const Root& root, const Snapshot* previous,
                                               const std::vector<PciAdapter>& functions) {
  const bool any_rdma = std::ranges::any_of(
      functions, [](const PciAdapter& one) { return one.rdma_device.is_known(); });
  Result<Nldev> nldev = any_rdma ? Nldev::open() : fail(EPROTONOSUPPORT, "asking", "nldev");
  std::vector<Field<RdmaDevice>> devices;
  devices.reserve(functions.size());
  for (const PciAdapter& one : functions)
    devices.push_back(look_at_rdma(root, one, nldev, device_before(previous, one.function)));
  return devices;
}

std::vector<Adapter> look_at_adapters(const Root& root, const Snapshot* previous,
                                      std::vector<PciAdapter> functions, SystemBus& bus) {
  std::vector<Adapter> adapters;
  if (functions.empty()) return adapters;
  // The effect is read before its cause: if a port becomes ACTIVE or a GID appears during this
  // look, the look also sees the link that was up, or the address that was there, before it.
  std::vector<Field<RdmaDevice>> devices = look_at_devices(root, previous, functions);
  std::vector<Field<Netdev>> links = look_at_links(functions);
  // If the records cannot be read, no address counts as ours, so that none is removed that may be
  // another program's.
  const auto records = read_address_records(root).value_or(std::vector<RecordedAddress>{});
  for (std::size_t at = 0; at < functions.size(); ++at) {
    PciAdapter& function = functions[at];
    Adapter adapter{std::move(function.function), std::move(function.net_function),
                    std::move(function.driver),   std::move(function.net_driver),
                    std::move(links[at]),         std::move(devices[at])};
    if (Netdev* netdev = adapter.netdev.get()) {
      netdev->settled =
          settled(root, adapter_before(previous, adapter.function), adapter.net_function, *netdev);
      netdev->owner = link_owner(root, netdev->name, netdev->index, bus);
      claim_unmarked(records, lasting_mac(*netdev), netdev->addresses);
    }
    adapters.push_back(std::move(adapter));
  }
  return adapters;
}

// The kernel keeps no old names of a device, so they come from udev's links and earlier looks.
void collect_aliases(const Root& root, const RdmaDevice* before, RdmaDevice& now) {
  const auto add = [&](const std::string& name) {
    const bool is_new = name != now.name && std::ranges::count(now.aliases, name) == 0;
    if (is_new && now.aliases.size() < kAliasLimit) now.aliases.push_back(name);
  };
  if (before != nullptr) {
    std::ranges::for_each(before->aliases, add);
    add(before->name);
  }
  std::ranges::for_each(names_of_links(root, now), add);
}

// The last answer of ibv_query_port still holds while the port's state has not changed. An error
// also holds for a while, as each query opens the device, and an open device prevents an unload by
// hand.
bool still_holds(const Look& look, const RdmaDevice* before, const RdmaDevice& now) {
  if (before == nullptr || !(before->port.state == now.port.state)) return false;
  const Error* error = before->port.verbs_state.error();
  if (error == nullptr) return before->port.verbs_state.is_known();
  // For a query without an answer yet, each look checks for the answer; that sends no command to
  // the device.
  if (error->code == ETIMEDOUT) return false;
  return !look.asked && BootClock::now() < look.previous->verbs_failed + kVerbsAgain;
}

void ask_verbs(const Instruments& with, const Look& look, const std::string& function,
               BootTime& failed, RdmaDevice& now) {
  const RdmaDevice* before = device_before(look.previous, function);
  if (still_holds(look, before, now)) {
    now.port.verbs_state = before->port.verbs_state;
    now.port.active_mtu = before->port.active_mtu;
    return;
  }
  // A port that is not ACTIVE needs no confirmation, and bringing it up must not wait for the
  // answer.
  if (with.port_query == nullptr || !now.port.state.is(PortState::Active) || !now.uverbs.is_known())
    return;
  auto answer = with.port_query->ask(now.name);
  if (!answer) {
    // udev has renamed the device meanwhile: the next look uses its new name.
    const auto device = function_path(with.root, function) / "infiniband" / now.name;
    if (!is_there(device).value_or(true)) return;
    if (answer.error().code != ETIMEDOUT) failed = BootClock::now();
    now.port.verbs_state = Field<PortState>::unreadable(answer.error());
    now.port.active_mtu = Field<unsigned>::unreadable(answer.error());
    return;
  }
  // The port has changed since its state was read, so the next look asks again.
  if (!now.port.state.is(answer->state)) return;
  now.port.verbs_state = answer->state;
  now.port.active_mtu = answer->active_mtu;
}

// Adds the aliases of the RDMA devices, and what verbs says of their ports. `failed`: when verbs
// failed last.
void complete_devices(const Instruments& with, const Look& look, bool driver_live, BootTime& failed,
                      std::vector<Adapter>& adapters) {
  if (look.previous != nullptr) failed = look.previous->verbs_failed;
  for (Adapter& adapter : adapters) {
    RdmaDevice* now = adapter.rdma_device.get();
    if (now == nullptr) continue;
    collect_aliases(with.root, device_before(look.previous, adapter.function), *now);
    // Until the driver is live, udev has not renamed its devices, and libibverbs would not find
    // them.
    if (driver_live) ask_verbs(with, look, adapter.function, failed, *now);
  }
}

Field<Initramfs> initramfs(const Instruments& with, const Look& look,
                           const Field<std::string>& kernel) {
  if (!look.initramfs && look.previous != nullptr) return look.previous->initramfs;
  const std::string* release = kernel.get();
  return release != nullptr ? look_at_initramfs(with.root, *release) : Field<Initramfs>{};
}

bool is_live(const Module* module) { return module != nullptr && is_live(*module); }

}  // namespace

void ask_module_lookup(Instruments& with, std::string program) {
  with.find_shipped = [program](const Root& root, const std::string& release,
                                const std::vector<std::string>& names) {
    return look_up_shipped(program, root, release, names);
  };
  with.read_modprobe = [program = std::move(program)](const Root& root) {
    return read_modprobe_config(program, root, ModprobeOf::ThisBoot);
  };
}

Snapshot observe(const Instruments& with, const Look& look) {
  const Root& root = with.root;
  Snapshot snapshot;
  snapshot.kernel = Field<std::string>::from(read_attribute(root / "/proc/sys/kernel/osrelease"));
  snapshot.modules = reported_modules(with, look, snapshot.kernel);
  SystemBus system_bus{root};
  auto pci = look_at_bus(root);
  if (!pci) {
    snapshot.adapters = Field<std::vector<Adapter>>::unreadable(pci.error());
    snapshot.holders = Field<std::vector<Holder>>::unreadable(pci.error());
  } else {
    if (!pci->adapters.empty()) {
      snapshot.first_nic = std::move(pci->first_nic);
      snapshot.initramfs = initramfs(with, look, snapshot.kernel);
      snapshot.customization = customization(root);
    }
    std::vector<Adapter> adapters =
        look_at_adapters(root, look.previous, std::move(pci->adapters), system_bus);
    // Before port-query opens its own context.
    snapshot.holders = find_holders(root, held_devices(adapters));
    complete_devices(with, look, is_live(snapshot.module(kDriverModule)), snapshot.verbs_failed,
                     adapters);
    // A driver that is being unloaded stops being live before it releases its functions. If its
    // state was read before the functions, it could still look live, and a function that it has
    // just left would look like one to bind.
    const bool any_unbound =
        std::ranges::any_of(adapters, [](const Adapter& one) { return one.driver.is_absent(); });
    if (any_unbound && is_live(snapshot.module(kDriverModule)))
      snapshot.modules = reported_modules(with, look, snapshot.kernel);
    snapshot.adapters = std::move(adapters);
  }
  snapshot.taken_at = BootClock::now();
  if (const auto* adapters = snapshot.adapters.get();
      with.boot_scripts != nullptr && adapters != nullptr && !adapters->empty()) {
    auto seen = with.boot_scripts->look(look.modules, look.asked, snapshot.taken_at);
    snapshot.boot_scripts = std::move(seen.scripts);
    snapshot.boot_scripts_error = std::move(seen.error);
  }
  // Read last, so that it includes every operation that had ended when the look was taken.
  if (with.read_ledger) {
    if (auto ledger = with.read_ledger())
      snapshot.ledger = std::move(*ledger);
    else
      snapshot.ledger_error = std::move(ledger.error());
  }
  return snapshot;
}

}  // namespace pvrdma::probes
