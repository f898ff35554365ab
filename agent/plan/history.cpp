#include "agent/plan/history.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "agent/plan/gid.hpp"

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

// What rule 4 changes beside the link's being up. A change of it forgives nothing: whoever undoes
// our settings again and again is not to be fought for ever.
auto link_settings(const Adapter& adapter) {
  const Netdev* netdev = adapter.netdev.get();
  return std::make_tuple(netdev != nullptr ? netdev->mtu : 0U,
                         netdev != nullptr ? netdev->addresses : std::vector<LinkAddress>{});
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

// True where one of our own attempts may have caused a change seen between the two looks.
bool ours(const Ledger& ledger, BootTime before, BootTime now) {
  return std::any_of(ledger.attempts.begin(), ledger.attempts.end(), [&](const Attempt& attempt) {
    return attempt.started <= now && (!attempt.finished || *attempt.finished + kSettle >= before);
  });
}

}  // namespace

History advance(History history, const Snapshot* before, const Snapshot& now) {
  if (!now.adapters.is_known()) return history;
  std::map<std::string, AdapterHistory> adapters;
  bool changed = before != nullptr && before->kernel != now.kernel;
  for (const Adapter& adapter : *now.adapters.get()) {
    const auto known = history.adapters.find(adapter.function);
    const Adapter* was = before != nullptr ? before->adapter(adapter.function) : nullptr;
    AdapterHistory entry{now.taken_at, now.taken_at, 0, now.taken_at};
    if (known != history.adapters.end() && before == nullptr) {
      entry = known->second;
    } else if (known != history.adapters.end()) {
      entry = known->second;
      if (was == nullptr || ladder_view(*was) != ladder_view(adapter)) {
        entry.changed = now.taken_at;
        changed = true;
      } else if (link_settings(*was) != link_settings(adapter)) {
        entry.changed = now.taken_at;
      }
      if (was != nullptr && port_state(*was) != port_state(adapter)) {
        entry.port_changed = now.taken_at;
        ++entry.transitions;
      }
      if (was != nullptr && was->rdma.is_known() && adapter.rdma.is_known())
        entry.gid_moves += moved_gids(*was->rdma.get(), *adapter.rdma.get());
    }
    adapters.emplace(adapter.function, entry);
  }
  // No attempt of ours adds or removes an adapter.
  const bool plugged = before != nullptr && before->adapters.is_known() &&
                       functions_of(*before) != functions_of(now);
  if (plugged ||
      (before != nullptr && changed && !ours(now.ledger, before->taken_at, now.taken_at)))
    history.fresh_start = now.taken_at;
  history.adapters = std::move(adapters);
  return history;
}

}  // namespace pvrdma
