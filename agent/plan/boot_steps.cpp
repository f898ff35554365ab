#include "agent/plan/boot_steps.hpp"

#include <algorithm>

#include "agent/plan/gid.hpp"
#include "agent/plan/order.hpp"

namespace pvrdma {

namespace {

class Steps {
 public:
  Steps(Timeline& timeline, const Snapshot* before, const Snapshot& now)
      : timeline_(timeline), first_look_(before == nullptr), now_(now.taken_at) {}

  void reached(bool is_so, StepKind kind, const std::string& subject = {}) {
    if (is_so) timeline_.add({kind, subject, now_, std::nullopt, first_look_});
  }

 private:
  Timeline& timeline_;
  bool first_look_;
  BootTime now_;
};

void note_adapter(const Config& config, const AdapterHealth& health, Steps& steps) {
  const Adapter& adapter = health.adapter;
  const std::string& function = adapter.function;
  const Netdev* netdev = adapter.netdev.get();
  const RdmaDevice* rdma = adapter.rdma.get();
  steps.reached(true, StepKind::AdapterSeen, function);
  steps.reached(netdev != nullptr && netdev->up, StepKind::LinkUp, function);
  steps.reached(netdev != nullptr && netdev->carrier.is(true), StepKind::Carrier, function);
  steps.reached(rdma != nullptr && rdma->port.state.is("ACTIVE"), StepKind::PortActive, function);
  steps.reached(!application_address(config, adapter).empty(), StepKind::Address, function);
  steps.reached(health.application_gid.has_value(), StepKind::Gid, function);
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

Timeline advance(Timeline timeline, const Config& config, const Snapshot* before,
                 const Snapshot& now, const Health& health) {
  const bool was_ready = timeline.find(StepKind::Ready) != nullptr;
  if (timeline.kernel.empty()) timeline.kernel = now.kernel.value_or({});
  Steps steps{timeline, before, now};
  for (const AdapterHealth& adapter : health.adapters) note_adapter(config, adapter, steps);
  if (was_ready) return timeline;
  steps.reached(!health.adapters.empty() && is_live(now, kDriverModule), StepKind::DriverLive);
  if (before != nullptr) timeline.port_changes += changed_ports(*before, health);
  steps.reached(health.state == State::Ready, StepKind::Ready);
  return timeline;
}

}  // namespace pvrdma
