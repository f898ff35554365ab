// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/plan/planner.hpp"

#include <algorithm>
#include <cerrno>

#include "agent/base/text.hpp"
#include "agent/plan/findings.hpp"
#include "agent/plan/questions.hpp"
#include "agent/plan/rules.hpp"

namespace pvrdma {

namespace {

template <typename T>
void report_unreadable(const Field<T>& field, Draft& draft) {
  if (field.is_unreadable()) draft.find(findings::unreadable(*field.error(), {}));
}

void report_unreadable_fields(const Inputs& in, Draft& draft) {
  for (const Module& module : in.snapshot.modules) {
    report_unreadable(module.init, draft);
    // `shipped` does not matter while the module is loaded.
    if (module.init.is_absent()) report_unreadable(module.shipped, draft);
  }
  for (const Adapter& adapter : *in.snapshot.adapters.get()) {
    const AdapterHistory seen = history_of(in, adapter);
    if (last_reading(seen, in.now) != nullptr) {
      draft.look_by(*seen.unreadable_since + kSettle);
      continue;
    }
    for (const Error& error : unreadable_parts(adapter))
      draft.find(findings::unreadable(error, adapter.function));
  }
}

// Memory, descriptors or processes have run out.
bool means_shortage(const Error& error) {
  return error.code == ENOMEM || error.code == EMFILE || error.code == ENFILE ||
         error.code == EAGAIN;
}

// Plans looks for effects that follow a change of the adapter within milliseconds and without an
// event: the first look comes soon, each next one after twice the time, until the adapter has
// settled.
void look_until_settled(const Inputs& in, const Adapter& adapter, Draft& draft) {
  constexpr Milliseconds kSoon{20};
  if (!has_settled(in, adapter, draft))
    draft.look_by(in.now + std::max(kSoon, in.now - history_of(in, adapter).changed));
}

void report_port(const Inputs& in, const Adapter& adapter, Draft& draft) {
  const Netdev* netdev = adapter.netdev.get();
  const RdmaDevice* rdma = adapter.rdma_device.get();
  if (netdev != nullptr && netdev->link_up && netdev->carrier.is(false))
    draft.find(about(adapter, FindingId::NoCarrier, {{"netdev", netdev->name}}));
  if (rdma == nullptr) return;
  // The driver takes the port up when the link is up.
  if (netdev != nullptr && netdev->link_up && rdma->port.state.is(PortState::Down))
    look_until_settled(in, adapter, draft);
  if (!rdma->port.state.is(PortState::Active)) return;
  const Error* error = rdma->port.verbs_state.error();
  if (error == nullptr) return;
  // The program that asks could not be started, so verbs may be all right.
  if (means_shortage(*error))
    draft.find(findings::unreadable(*error, adapter.function));
  else
    draft.find(about(adapter, FindingId::VerbsUnusable,
                     {{"device", rdma->name}, {"error", error->message()}},
                     error->code == ETIMEDOUT ? "late" : ""));
}

// A driver that passes functions on to a virtual machine or to user space, such as vfio-pci, never
// releases a function by itself.
void report_other_driver(const Adapter& adapter, Draft& draft) {
  const auto check = [&](const std::string& function, const Field<std::string>& bound,
                         const std::string& wanted, const char* id) {
    if (bound.is_known() && !bound.is(wanted))
      draft.find(about(
          adapter, FindingId::OtherDriver,
          {{"function", function}, {"driver", *bound.get()}, {"wanted", wanted}, {"id", id}}));
  };
  check(adapter.net_function, adapter.net_driver, kNetModule, "15ad 07b0");
  check(adapter.function, adapter.driver, kDriverModule, "15ad 0820");
}

// vmxnet3 has an interface for each function that it is bound to. An interface that is not visible
// is in another network namespace, where the agent must not touch it.
bool may_be_elsewhere(const Adapter& adapter) {
  return adapter.driver.is(kDriverModule) && adapter.net_driver.is(kNetModule) &&
         adapter.netdev.is_absent();
}

// The same for the RDMA device alone: vmw_pvrdma has one for each function that it is bound to.
bool device_may_be_elsewhere(const Inputs& in, const Adapter& adapter) {
  return adapter.driver.is(kDriverModule) && adapter.netdev.is_known() &&
         adapter.rdma_device.is_absent() && is_live(in.snapshot, kDriverModule);
}

// A function is bound from the start of its probe, which makes the RDMA device at its end. An
// adapter that has not changed since the executor was called is not being probed.
bool executor_may_probe(const Inputs& in, const Adapter& adapter) {
  if (!in.history.busy || history_of(in, adapter).changed < in.history.busy->since) return false;
  return probes_functions(in.history.busy->operation);
}

void report_elsewhere(const Inputs& in, const Adapter& adapter, Draft& draft) {
  // For a probe by another program or by the kernel. The driver gives a device ten seconds for a
  // command (PVRDMA_CMD_TIMEOUT, drivers/infiniband/hw/vmw_pvrdma/pvrdma_cmd.c, Linux 6.1).
  constexpr Milliseconds kProbe{12'000};
  if (executor_may_probe(in, adapter)) return;
  if (may_be_elsewhere(adapter) && has_settled(in, adapter, draft))
    draft.find(about(adapter, FindingId::NetdevElsewhere, {{"adapter", adapter.function}}));
  if (device_may_be_elsewhere(in, adapter) && has_settled(in, adapter, draft, kProbe))
    draft.find(
        about(adapter, FindingId::NetdevElsewhere, {{"adapter", adapter.function}}, "device"));
}

// The driver creates the GID of a new address within milliseconds, so a settled adapter has it.
void report_gid(const Inputs& in, const Adapter& adapter, Draft& draft) {
  const std::string address = application_address(in.config, adapter);
  const RdmaDevice* rdma = adapter.rdma_device.get();
  const bool is_due = !address.empty() && rdma != nullptr && rdma->port.state.is(PortState::Active);
  if (!is_due || application_gid(in.config, adapter)) return;
  look_until_settled(in, adapter, draft);
  if (has_settled(in, adapter, draft))
    draft.find(findings::gid_missing(adapter, address, config_of(in.config, adapter).gid_type));
}

// Each table is valid by itself, so the conflict shows only when the adapter is present.
void report_conflicts(const Inputs& in, Draft& draft) {
  for (const Adapter& adapter : *in.snapshot.adapters.get())
    if (const auto entry = find_config(in.config, names_of(adapter));
        !entry && entry.error().code == EEXIST && udev_is_done(in, adapter, draft))
      draft.find(overall(FindingId::ConfigBad,
                         {{"tables", entry.error().what}, {"adapter", adapter.function}},
                         "tables"));
}

// Whether the adapter may have an interface that is not visible, or may get one, so that its names
// are not known yet. A function that vmxnet3 did not bind when it was loaded gets none.
bool awaits_netdev(const Inputs& in, const Adapter& adapter, Draft& draft) {
  if (!adapter.netdev.is_absent()) return adapter.netdev.is_unreadable();
  return !adapter.net_driver.is_absent() || !is_live(in.snapshot, kNetModule) ||
         !has_settled(in, adapter, draft);
}

// False also where this is not known yet.
bool matches_nothing(const Inputs& in, const AdapterMatch& match, Draft& draft) {
  const auto& adapters = *in.snapshot.adapters.get();
  return std::none_of(adapters.begin(), adapters.end(), [&](const Adapter& adapter) {
    return matches(match, names_of(adapter)) || (!match.pci && awaits_netdev(in, adapter, draft)) ||
           (match.netdev && !udev_is_done(in, adapter, draft));
  });
}

void report_config(const Inputs& in, Draft& draft) {
  for (const AdapterConfig& entry : in.config.adapters)
    if (matches_nothing(in, entry.match, draft))
      draft.find(overall(FindingId::ConfigMatchesNothing, {{"match", to_string(entry.match)}}));
}

// An image that cannot be read, for instance since /boot is closed to other users, gives no
// finding.
void report_initramfs(const Snapshot& snapshot, Draft& draft) {
  const Initramfs* image = snapshot.initramfs.get();
  if (image != nullptr && !image->older_than.empty())
    draft.find(findings::initramfs_old(*image, snapshot));
}

void report_removed(const Inputs& in, Draft& draft) {
  for (const RemovedAdapter& removed : in.history.removed) {
    if (!has_come(removed.removed + in.config.readiness.forget_removed, in, draft))
      draft.find(findings::adapter_removed(removed, in.config.readiness.forget_removed));
  }
}

// A VM without an adapter: nothing is loaded, and there is a finding only where an adapter is
// required or was removed.
Plan plan_without_adapter(const Inputs& in) {
  const Config& config = in.config;
  Draft draft;
  report_removed(in, draft);
  if (const unsigned required = config.readiness.adapters.value_or(0); required > 0)
    draft.find(overall(FindingId::NoAdapter, {{"required", std::to_string(required)}}));
  return draft.plan;
}

// Sorts the worst findings first, and removes duplicates.
void tidy(std::vector<Finding>& list) {
  std::stable_sort(list.begin(), list.end(), is_worse);
  std::vector<Finding> unique;
  for (Finding& finding : list)
    if (!contains(unique, finding)) unique.push_back(std::move(finding));
  list = std::move(unique);
}

// The snapshot with the last reading of each adapter that this look could not read; none: there is
// no such adapter.
std::optional<Snapshot> with_last_readings(const Inputs& in) {
  std::optional<Snapshot> filled;
  if (!in.snapshot.adapters.is_known()) return filled;
  for (std::size_t i = 0; i < in.snapshot.adapters.get()->size(); ++i) {
    const AdapterHistory seen = history_of(in, in.snapshot.adapters.get()->at(i));
    const Adapter* read = last_reading(seen, in.now);
    if (read == nullptr) continue;
    if (!filled) filled = in.snapshot;
    filled->adapters.get()->at(i) = *read;
  }
  return filled;
}

Plan plan_from(const Inputs& in) {
  const auto& [config, snapshot, history, now] = in;
  Draft draft;
  if (snapshot.adapters.is_unreadable()) {
    draft.find(findings::unreadable(*snapshot.adapters.error(), {}));
    return draft.plan;
  }
  if (!snapshot.adapters.is_known() || snapshot.adapters.get()->empty())
    return plan_without_adapter(in);
  if (const auto& call = history.busy; call && call->stuck)
    draft.find(overall(FindingId::ExecutorStuck,
                       {{"call", describe(call->operation)}, {"since", wall_time(call->since)}}));
  report_unreadable_fields(in, draft);
  report_customization(in, draft);
  report_conflicts(in, draft);
  // Until then the configuration may still be the template's.
  if (!awaits_customization(in)) report_config(in, draft);
  report_initramfs(snapshot, draft);
  for (const Adapter& adapter : *snapshot.adapters.get()) {
    report_other_driver(adapter, draft);
    report_port(in, adapter, draft);
    report_elsewhere(in, adapter, draft);
    report_gid(in, adapter, draft);
  }
  report_removed(in, draft);
  for (const BootScript& script : snapshot.boot_scripts)
    draft.find(overall(FindingId::BootScript, {{"script", script.path}}));
  check_networks(in, draft);
  load_predecessors(in, draft);
  load_driver(in, draft);
  bind_functions(in, draft);
  configure_links(in, draft);
  climb_ladder(in, draft);
  if (history.executor_missing && !draft.plan.actions.empty())
    draft.find(
        overall(FindingId::ExecutorMissing, {{"error", history.executor_missing->message()}}));
  tidy(draft.plan.findings);
  return draft.plan;
}

}  // namespace

Plan plan(const Config& config, const Snapshot& snapshot, const History& history, BootTime now) {
  const Inputs in{config, snapshot, history, now};
  Plan made = plan_from(in);
  // No action follows from a last reading, but the findings must not go and come back.
  if (const auto filled = with_last_readings(in))
    made.findings = plan_from({config, *filled, history, now}).findings;
  return made;
}

}  // namespace pvrdma
