#include "agent/plan/history.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "agent/plan/gid.hpp"
#include "agent/plan/questions.hpp"

namespace pvrdma {

namespace {

// What the ladder looks at, in one comparable value.
auto ladder_view(const Adapter& adapter) {
  const Netdev* netdev = adapter.netdev.get();
  const RdmaDevice* rdma = adapter.rdma.get();
  return std::make_tuple(adapter.driver, netdev != nullptr, netdev != nullptr && netdev->up,
                         netdev != nullptr ? netdev->carrier : Field<bool>{}, rdma != nullptr,
                         rdma != nullptr ? rdma->port.state : Field<std::string>{},
                         rdma != nullptr && rdma->netdev.is_known());
}

// What rule 4 changes beside the link's being up. The attempts before a change of it count
// on, so that they come to an end where somebody undoes our settings again and again.
auto link_settings(const Adapter& adapter) {
  const Netdev* netdev = adapter.netdev.get();
  return std::make_tuple(netdev != nullptr ? netdev->mtu : 0U,
                         netdev != nullptr ? netdev->addresses : std::vector<LinkAddress>{});
}

bool was_taken_down(const Adapter& before, const Adapter& now) {
  const Netdev* was = before.netdev.get();
  const Netdev* netdev = now.netdev.get();
  return was != nullptr && netdev != nullptr && was->index == netdev->index && was->up &&
         !netdev->up;
}

std::string port_state(const Adapter& adapter) {
  const RdmaDevice* rdma = adapter.rdma.get();
  return rdma == nullptr ? std::string{} : rdma->port.state.value_or({});
}

std::vector<std::string> functions_of(const Snapshot& snapshot) {
  std::vector<std::string> functions;
  if (const auto* adapters = snapshot.adapters.get())
    for (const Adapter& adapter : *adapters) functions.push_back(adapter.function);
  return functions;
}

// True where vmxnet3 has taken a netdev away: that is never reloaded, unbound or unloaded by us.
bool lost_a_netdev(const Snapshot& before, const Snapshot& now) {
  const auto& adapters = *now.adapters.get();
  return std::any_of(adapters.begin(), adapters.end(), [&](const Adapter& adapter) {
    const Adapter* was = before.adapter(adapter.function);
    const Netdev* old = was != nullptr ? was->netdev.get() : nullptr;
    if (old == nullptr || adapter.netdev.is_unreadable()) return false;
    const Netdev* netdev = adapter.netdev.get();
    return netdev == nullptr || netdev->index != old->index;
  });
}

// True where one of our own attempts may have caused a change seen between the two looks.
bool ours(const Ledger& ledger, BootTime before, BootTime now) {
  return std::any_of(ledger.attempts.begin(), ledger.attempts.end(), [&](const Attempt& attempt) {
    return attempt.started <= now && (!attempt.finished || *attempt.finished + kSettle >= before);
  });
}

// Whether the adapter now in a slot is another than the one that was there.
bool replaced(const AdapterHistory& was, const Adapter& now) {
  const Netdev* netdev = now.netdev.get();
  return netdev != nullptr && !was.mac.empty() && !netdev->permanent_mac.empty() &&
         was.mac != netdev->permanent_mac;
}

void note_names(const Adapter& adapter, AdapterHistory& entry) {
  const Netdev* netdev = adapter.netdev.get();
  if (netdev == nullptr) return;
  entry.netdev = netdev->name;
  if (!netdev->permanent_mac.empty()) entry.mac = netdev->permanent_mac;
}

bool is_back(const RemovedAdapter& removed, const Snapshot& now) {
  const auto& adapters = *now.adapters.get();
  return std::any_of(adapters.begin(), adapters.end(), [&](const Adapter& adapter) {
    if (removed.mac.empty()) return adapter.function == removed.function;
    const Netdev* netdev = adapter.netdev.get();
    return netdev != nullptr && netdev->permanent_mac == removed.mac;
  });
}

// Those that are gone from their slots since the history was written; whoever came back is not
// missed any more. True: some have gone.
bool note_removed(const Snapshot& now, History& history) {
  constexpr std::size_t kMost = 16;  // of a VM's ten
  const std::size_t before = history.removed.size();
  for (const auto& [function, was] : history.adapters) {
    const Adapter* there = now.adapter(function);
    if (there == nullptr || replaced(was, *there))
      history.removed.push_back({function, was.mac, was.netdev, now.taken_at});
  }
  const bool gone = history.removed.size() > before;
  std::erase_if(history.removed,
                [&](const RemovedAdapter& removed) { return is_back(removed, now); });
  if (history.removed.size() > kMost)
    history.removed.erase(history.removed.begin(), history.removed.end() - kMost);
  return gone;
}

// What is known of an adapter after a look. `changed` becomes true where the ladder has a new case.
AdapterHistory advance(const AdapterHistory& known, const Adapter* was, const Adapter& adapter,
                       BootTime now, bool& changed) {
  AdapterHistory entry = known;
  if (was == nullptr || ladder_view(*was) != ladder_view(adapter)) {
    entry.changed = now;
    changed = true;
  } else if (link_settings(*was) != link_settings(adapter)) {
    entry.changed = now;
  }
  if (was != nullptr && was_taken_down(*was, adapter)) entry.downed = now;
  if (was != nullptr && was->driver.is_known() && adapter.driver.is_absent()) entry.unbound = now;
  if (was != nullptr && port_state(*was) != port_state(adapter)) {
    entry.port_changed = now;
    ++entry.transitions;
  }
  if (was != nullptr && was->rdma.is_known() && adapter.rdma.is_known())
    entry.gid_moves += moved_gids(*was->rdma.get(), *adapter.rdma.get());
  return entry;
}

unsigned changed_ports(const Snapshot& before, const Health& health) {
  return static_cast<unsigned>(std::count_if(
      health.adapters.begin(), health.adapters.end(), [&](const AdapterHealth& entry) {
        const Adapter* was = before.adapter(entry.adapter.function);
        const RdmaDevice* old = was != nullptr ? was->rdma.get() : nullptr;
        const RdmaDevice* rdma = entry.adapter.rdma.get();
        return old != nullptr && rdma != nullptr && old->port.state != rdma->port.state;
      }));
}

}  // namespace

AdapterHistory history_of(const History& history, const Adapter& adapter, BootTime now) {
  const auto seen = history.adapters.find(adapter.function);
  return seen != history.adapters.end() ? seen->second : AdapterHistory{now, now, 0, now};
}

History advance(History history, const Snapshot* before, const Snapshot& now) {
  if (now.customization.is_absent())
    history.customized_since.reset();
  else if (!history.customized_since)
    history.customized_since = now.taken_at;
  if (!now.adapters.is_known()) return history;
  std::map<std::string, AdapterHistory> adapters;
  bool changed = before != nullptr && before->kernel != now.kernel;
  for (const Adapter& adapter : *now.adapters.get()) {
    const auto known = history.adapters.find(adapter.function);
    AdapterHistory entry{now.taken_at, now.taken_at, 0, now.taken_at};
    if (known != history.adapters.end() && !replaced(known->second, adapter))
      entry = before != nullptr ? advance(known->second, before->adapter(adapter.function), adapter,
                                          now.taken_at, changed)
                                : known->second;
    note_names(adapter, entry);
    if (other_owner(adapter) != nullptr) entry.managed = now.taken_at;
    adapters.emplace(adapter.function, std::move(entry));
  }
  // No attempt of ours adds or removes an adapter, or takes a netdev away.
  bool by_others = note_removed(now, history);
  if (before != nullptr && before->adapters.is_known())
    by_others =
        by_others || functions_of(*before) != functions_of(now) || lost_a_netdev(*before, now);
  if (by_others ||
      (before != nullptr && changed && !ours(now.ledger, before->taken_at, now.taken_at)))
    history.fresh_start = now.taken_at;
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
    const RdmaDevice* rdma = entry.adapter.rdma.get();
    reached(true, StepKind::AdapterSeen, function);
    reached(netdev != nullptr && netdev->up, StepKind::LinkUp, function);
    reached(netdev != nullptr && netdev->carrier.is(true), StepKind::Carrier, function);
    reached(rdma != nullptr && rdma->port.state.is("ACTIVE"), StepKind::PortActive, function);
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
