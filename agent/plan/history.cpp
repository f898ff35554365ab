// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/plan/history.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "agent/model/fields.hpp"
#include "agent/plan/questions.hpp"

namespace pvrdma {

namespace {

// Everything that the ladder depends on, as one comparable value.
auto ladder_view(const Adapter& adapter) {
  const Netdev* netdev = adapter.netdev.get();
  const RdmaDevice* rdma = adapter.rdma_device.get();
  return std::make_tuple(adapter.driver, netdev != nullptr, netdev != nullptr && netdev->link_up,
                         netdev != nullptr ? netdev->carrier : Field<bool>{}, rdma != nullptr,
                         rdma != nullptr ? rdma->port.state : Field<PortState>{},
                         rdma != nullptr && rdma->netdev.is_known());
}

// The settings of a link that rule 4 changes, besides bringing it up. A change of these forgives no
// earlier attempts, so the attempts end where another program undoes our settings again and again.
auto link_settings(const Adapter& adapter) {
  const Netdev* netdev = adapter.netdev.get();
  return std::make_tuple(netdev != nullptr ? netdev->mtu : 0U,
                         netdev != nullptr ? netdev->addresses : std::vector<LinkAddress>{});
}

bool was_taken_down(const Adapter& before, const Adapter& now) {
  const Netdev* was = before.netdev.get();
  const Netdev* netdev = now.netdev.get();
  return was != nullptr && netdev != nullptr && was->index == netdev->index && was->link_up &&
         !netdev->link_up;
}

// Whether the adapter has a netdev that it did not have at the look before: vmxnet3 has made it, or
// it has come back from another network namespace. A rename keeps the index.
bool has_new_netdev(const Adapter& before, const Adapter& now) {
  const Netdev* was = before.netdev.get();
  const Netdev* netdev = now.netdev.get();
  if (netdev == nullptr || before.netdev.is_unreadable()) return false;
  return was == nullptr || was->index != netdev->index;
}

// None: not known.
std::optional<PortState> port_state(const Adapter& adapter) {
  const RdmaDevice* rdma = adapter.rdma_device.get();
  const PortState* state = rdma != nullptr ? rdma->port.state.get() : nullptr;
  return state != nullptr ? std::optional{*state} : std::nullopt;
}

// True where the set of adapters differs from the last look that could read the list.
bool others_are_there(const History& history, const std::vector<Adapter>& now) {
  return !std::equal(
      history.adapters.begin(), history.adapters.end(), now.begin(), now.end(),
      [](const auto& known, const Adapter& adapter) { return known.first == adapter.function; });
}

// True where vmxnet3 has removed a netdev. The agent never unloads or unbinds vmxnet3, so this was
// not the agent. While vmxnet3 is bound, a netdev that is gone is in another network namespace: the
// kernel removes the link to the driver first (__device_release_driver(), Linux 6.1).
bool lost_a_netdev(const History& history, const std::vector<Adapter>& now) {
  return std::any_of(now.begin(), now.end(), [&](const Adapter& adapter) {
    const auto known = history.adapters.find(adapter.function);
    const bool read = known != history.adapters.end() && known->second.read != nullptr;
    const Netdev* old = read ? known->second.read->netdev.get() : nullptr;
    if (old == nullptr || adapter.netdev.is_unreadable()) return false;
    const Netdev* netdev = adapter.netdev.get();
    return netdev == nullptr ? !adapter.net_driver.is(kNetModule) : netdev->index != old->index;
  });
}

// The adapter as the look saw it; decisive fields that the look could not read keep their earlier
// value.
Adapter with_gaps_filled(Adapter now, const Adapter& before) {
  const Netdev* old = before.netdev.get();
  each_field(now, [&](const FieldPath& place, auto& field) {
    if (!field.is_unreadable()) return;
    const std::string path = place.text();
    if (!is_decisive(interface_name(path))) return;
    // Of another netdev nothing is known.
    const Netdev* netdev = now.netdev.get();
    const bool is_netdevs = path.starts_with("netdev.");
    if (is_netdevs && (old == nullptr || netdev == nullptr || old->index != netdev->index)) return;
    each_field(before, [&](const FieldPath& there, const auto& was) {
      if constexpr (std::is_same_v<decltype(was), const std::decay_t<decltype(field)>&>)
        if (there.text() == path) field = was;
    });
  });
  return now;
}

// True where one of our own attempts may have caused a change seen between the two looks. An
// attempt stays unfinished for ever if the executor was killed, and for as long as a call hangs in
// the kernel, so it counts for twice the time that the agent gives a reload.
bool ours(const Ledger& ledger, BootTime before, BootTime now) {
  return std::any_of(ledger.attempts.begin(), ledger.attempts.end(), [&](const Attempt& attempt) {
    const BootTime end =
        attempt.finished ? *attempt.finished + kSettle : attempt.started + 2 * kReloadBound;
    return attempt.started <= now && end >= before;
  });
}

// Whether a different adapter is now in the slot.
bool replaced(const AdapterHistory& was, const Adapter& now) {
  const Netdev* netdev = now.netdev.get();
  return netdev != nullptr && !was.mac.empty() && !netdev->permanent_mac.empty() &&
         was.mac != netdev->permanent_mac;
}

void note_names(const Adapter& adapter, AdapterHistory& entry) {
  const Netdev* netdev = adapter.netdev.get();
  if (netdev == nullptr) return;
  entry.netdev = netdev->name;
  if (!lasting_mac(*netdev).empty()) entry.mac = lasting_mac(*netdev);
}

bool is_back(const RemovedAdapter& removed, const Snapshot& now) {
  return std::ranges::any_of(*now.adapters.get(), [&](const Adapter& adapter) {
    const Netdev* netdev = adapter.netdev.get();
    // Where the kernel tells no permanent MAC, the MAC may have been changed before the removal.
    const bool slot_tells =
        removed.mac.empty() || (netdev != nullptr && netdev->permanent_mac.empty());
    if (slot_tells && adapter.function == removed.function) return true;
    return netdev != nullptr && lasting_mac(*netdev) == removed.mac;
  });
}

// The MAC by which the adapter is known when it comes back; empty: another one has it too, as in a
// bond before Linux 5.6, where the kernel does not tell the permanent one.
std::string own_mac(const History& history, const std::string& function) {
  const std::string& mac = history.adapters.at(function).mac;
  const bool is_shared = std::ranges::any_of(history.adapters, [&](const auto& other) {
    return other.first != function && other.second.mac == mac;
  });
  return is_shared ? "" : mac;
}

// Adds the adapters that have left their slots since the last look, and drops those that came back.
// True: some have left.
bool note_removed(const Snapshot& now, History& history) {
  constexpr std::size_t kMost = 16;  // a VM has at most ten
  const std::size_t before = history.removed.size();
  for (const auto& [function, was] : history.adapters) {
    const Adapter* there = now.adapter(function);
    if (there == nullptr || replaced(was, *there))
      history.removed.push_back({function, own_mac(history, function), was.netdev, now.taken_at});
  }
  const bool gone = history.removed.size() > before;
  std::erase_if(history.removed,
                [&](const RemovedAdapter& removed) { return is_back(removed, now); });
  if (history.removed.size() > kMost)
    history.removed.erase(history.removed.begin(), history.removed.end() - kMost);
  return gone;
}

// The history of an adapter after a look. `by_itself`: no attempt of ours can have changed it.
AdapterHistory advance(const AdapterHistory& known, const Adapter& adapter, BootTime now,
                       bool by_itself) {
  AdapterHistory entry = known;
  if (known.read == nullptr) return entry;
  const Adapter& was = *known.read;
  Adapter read = with_gaps_filled(adapter, was);
  if (ladder_view(was) != ladder_view(read)) {
    entry.changed = now;
    if (by_itself) entry.fresh_start = now;
  } else if (link_settings(was) != link_settings(read)) {
    entry.changed = now;
  }
  if (has_new_netdev(was, read)) entry.first_seen = now;
  if (was_taken_down(was, read)) entry.downed = now;
  if (!is_unbound(was) && is_unbound(read)) entry.unbound = now;
  if (port_state(was) != port_state(read)) {
    entry.port_changed = now;
    ++entry.transitions;
  }
  if (was.rdma_device.is_known() && read.rdma_device.is_known())
    entry.gid_moves += moved_gids(*was.rdma_device.get(), *read.rdma_device.get());
  if (read != was) entry.read = std::make_shared<const Adapter>(std::move(read));
  return entry;
}

unsigned changed_ports(const Snapshot& before, const Health& health) {
  return static_cast<unsigned>(std::count_if(
      health.adapters.begin(), health.adapters.end(), [&](const AdapterHealth& entry) {
        const Adapter* was = before.adapter(entry.adapter.function);
        const RdmaDevice* old = was != nullptr ? was->rdma_device.get() : nullptr;
        const RdmaDevice* rdma = entry.adapter.rdma_device.get();
        return old != nullptr && rdma != nullptr && old->port.state.is_known() &&
               rdma->port.state.is_known() && old->port.state != rdma->port.state;
      }));
}

// Whether a network manager may take the link once that has carrier.
bool awaits_carrier(const Adapter& adapter) {
  const Netdev* netdev = adapter.netdev.get();
  return netdev != nullptr && netdev->owner.is_known() && netdev->carrier.is(false);
}

// A module that a failed look did not see is loading still. After a removal a load is a new wait.
void note_loading(const Snapshot* before, const Snapshot& now, History& history) {
  for (const Module& module : now.modules) {
    const Module* was = before != nullptr ? before->module(module.name) : nullptr;
    const bool left = was != nullptr && was->init.is(ModuleInit::Going);
    const bool waits = !module.init.is_absent() && !is_live(module);
    if (!waits || (left && module.init.is(ModuleInit::Coming)))
      history.loading_since.erase(module.name);
    if (waits) history.loading_since.try_emplace(module.name, now.taken_at);
  }
}

}  // namespace

AdapterHistory history_of(const History& history, const Adapter& adapter, BootTime now) {
  const auto seen = history.adapters.find(adapter.function);
  return seen != history.adapters.end() ? seen->second : AdapterHistory{now, now, 0, now};
}

BootTime fresh_start(const History& history, const std::string& function) {
  BootTime latest = history.fresh_start;
  for (const auto& [name, entry] : history.adapters)
    if (function.empty() || function == name) latest = std::max(latest, entry.fresh_start);
  return latest;
}

const Adapter* last_reading(const AdapterHistory& entry, BootTime now) {
  const bool stands_in = entry.unreadable_since && now < *entry.unreadable_since + kSettle &&
                         entry.read != nullptr && unreadable_parts(*entry.read).empty();
  return stands_in ? entry.read.get() : nullptr;
}

History advance(History history, const Snapshot* before, const Snapshot& now) {
  if (now.customization.is_absent())
    history.customized_until = std::min(history.customized_until, now.taken_at);
  else if (before == nullptr || before->customization.is_absent())
    history.customized_until = now.taken_at + kCustomizationPatience;
  note_loading(before, now, history);
  if (!now.adapters.is_known()) return history;
  std::map<std::string, AdapterHistory> adapters;
  const bool by_itself = before != nullptr && !ours(now.ledger, before->taken_at, now.taken_at);
  const bool new_kernel = by_itself && before->kernel.is_known() && now.kernel.is_known() &&
                          before->kernel != now.kernel;
  for (const Adapter& adapter : *now.adapters.get()) {
    const auto known = history.adapters.find(adapter.function);
    AdapterHistory entry{now.taken_at, now.taken_at, 0, now.taken_at};
    if (known != history.adapters.end() && !replaced(known->second, adapter))
      entry = advance(known->second, adapter, now.taken_at, by_itself);
    if (entry.read == nullptr) entry.read = std::make_shared<const Adapter>(adapter);
    if (unreadable_parts(adapter).empty())
      entry.unreadable_since.reset();
    else if (!entry.unreadable_since)
      entry.unreadable_since = now.taken_at;
    note_names(adapter, entry);
    if (other_owner(adapter) != nullptr || awaits_carrier(adapter)) entry.managed = now.taken_at;
    adapters.emplace(adapter.function, std::move(entry));
  }
  // The agent never adds or removes an adapter or a netdev of vmxnet3, so such a change came from
  // elsewhere.
  bool by_others = note_removed(now, history);
  if (before != nullptr && (before->adapters.is_known() || !history.adapters.empty()))
    by_others = by_others || others_are_there(history, *now.adapters.get()) ||
                lost_a_netdev(history, *now.adapters.get());
  if (by_others || new_kernel) history.fresh_start = now.taken_at;
  history.adapters = std::move(adapters);
  return history;
}

Timeline advance(Timeline timeline, const Config& config, const Snapshot* before,
                 const Snapshot& now, const Health& health) {
  const bool was_ready = timeline.find(StepKind::Ready) != nullptr;
  if (timeline.kernel.empty()) timeline.kernel = now.kernel.value_or({});
  const auto reached = [&](bool is_so, StepKind kind, const std::string& subject) {
    if (is_so) timeline.add({kind, subject, now.taken_at, std::nullopt, before == nullptr});
  };
  for (const AdapterHealth& entry : health.adapters) {
    const std::string& function = entry.adapter.function;
    const Netdev* netdev = entry.adapter.netdev.get();
    const RdmaDevice* rdma = entry.adapter.rdma_device.get();
    reached(true, StepKind::AdapterSeen, function);
    reached(netdev != nullptr && netdev->link_up, StepKind::LinkUp, function);
    reached(netdev != nullptr && netdev->carrier.is(true), StepKind::Carrier, function);
    reached(rdma != nullptr && rdma->port.state.is(PortState::Active), StepKind::PortActive,
            function);
    reached(!application_address(config, entry.adapter).empty(), StepKind::Address, function);
    reached(entry.application_gid.has_value(), StepKind::Gid, function);
  }
  if (was_ready) return timeline;
  reached(!health.adapters.empty() && is_live(now, kDriverModule), StepKind::DriverLive, {});
  if (before != nullptr) timeline.port_changes += changed_ports(*before, health);
  reached(health.state == State::Ready, StepKind::Ready, {});
  return timeline;
}

}  // namespace pvrdma
