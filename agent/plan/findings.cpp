// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/plan/findings.hpp"

#include <algorithm>
#include <utility>

#include "agent/model/adapter_match.hpp"

namespace pvrdma {

Finding about(const Adapter& adapter, FindingId id, Values values, std::string_view variant) {
  return make_finding(id, variant, std::move(values), adapter.function);
}

Finding overall(FindingId id, Values values, std::string_view variant) {
  return make_finding(id, variant, std::move(values));
}

namespace findings {

namespace {

// Of an adapter that has an RDMA device.
const std::string& device_name(const Adapter& adapter) { return adapter.rdma_device.get()->name; }

std::string seconds(Milliseconds time) { return std::to_string(time.count() / 1000) + " s"; }

std::string kernel_of(const Snapshot& snapshot) { return snapshot.kernel.value_or("running"); }

std::string who_holds(const std::vector<Holder>& holders) {
  return holders.empty()
             ? "a holder that cannot be named (see vmw_pvrdma's reference count in lsmod)"
             : describe(holders);
}

// A finding about a setting that is not as configured, on a link that is not ours.
Finding not_ours(const Adapter& adapter, FindingId id, Values values, const LinkOwner* owner,
                 const std::string& advice) {
  if (owner != nullptr) {
    values["manager"] = describe(*owner);
    if (!advice.empty()) values["advice"] = advice;
  }
  return about(adapter, id, std::move(values), owner != nullptr ? "managed" : "unmanaged");
}

}  // namespace

Finding adapter_removed(const RemovedAdapter& removed, Milliseconds patience) {
  std::string known_by = removed.netdev;
  if (!removed.mac.empty()) known_by += (known_by.empty() ? "" : ", ") + removed.mac;
  return overall(FindingId::AdapterRemoved,
                 {{"adapter", removed.function + (known_by.empty() ? "" : " (" + known_by + ")")},
                  {"time", wall_time(removed.removed)},
                  {"patience", seconds(patience)}});
}

Finding port_down(const Adapter& adapter, bool reload_tried) {
  const std::string state{to_string(*adapter.rdma_device.get()->port.state.get())};
  return about(adapter, FindingId::PortDown, {{"device", device_name(adapter)}, {"state", state}},
               reload_tried ? "" : "untried");
}

Finding netdev_lost(const Adapter& adapter) {
  return about(adapter, FindingId::NetdevLost, {{"device", device_name(adapter)}});
}

Finding gid_missing(const Adapter& adapter, const std::string& address, GidType type) {
  Values values{{"device", device_name(adapter)}, {"address", address}};
  if (type == GidType::Best) return about(adapter, FindingId::GidMissing, std::move(values), "any");
  values["type"] = to_string(type);
  return about(adapter, FindingId::GidMissing, std::move(values), "typed");
}

Finding unreadable(const Error& error, MaybeAdapter adapter) {
  return make_finding(FindingId::Unreadable, {}, {{"error", error.message()}}, std::move(adapter));
}

Finding driver_not_shipped(const Snapshot& snapshot) {
  return overall(FindingId::DriverNotShipped, {{"kernel", kernel_of(snapshot)}});
}

Finding initramfs_old(const Initramfs& image, const Snapshot& snapshot) {
  return overall(
      FindingId::InitramfsOld,
      {{"image", image.path}, {"newer", image.older_than}, {"kernel", kernel_of(snapshot)}});
}

Finding module_not_shipped(const std::string& module, const Snapshot& snapshot, bool required) {
  return overall(FindingId::ModuleNotShipped, {{"kernel", kernel_of(snapshot)}, {"module", module}},
                 required ? "required" : "optional");
}

Finding module_blocked(const std::string& module, const std::string& how, bool required) {
  return overall(FindingId::ModuleBlocked, {{"module", module}, {"how", how}},
                 required ? "required" : "optional");
}

Finding block_unknown(const std::string& module, const Error& error) {
  return overall(FindingId::ModuleBlocked, {{"module", module}, {"error", error.message()}},
                 "unknown");
}

Finding attempt_failed(const Attempt& attempt, MaybeAdapter adapter) {
  if (attempt.outcome == Outcome::Refused && attempt.verb == Verb::LoadModule)
    return make_finding(FindingId::ModuleRefused, {},
                        {{"module", attempt.target}, {"error", attempt.detail}},
                        std::move(adapter));
  Values said{{"call", describe(attempt.verb, attempt.target)}, {"error", attempt.detail}};
  if (attempt.outcome == Outcome::NotAllowed)
    return make_finding(FindingId::ActionRefused, {}, std::move(said), std::move(adapter));
  return make_finding(FindingId::ActionFailed, {}, std::move(said), std::move(adapter));
}

Finding giving_up(const std::string& call, unsigned tries, bool optional, MaybeAdapter adapter) {
  return make_finding(FindingId::GivingUp, optional ? "optional" : "",
                      {{"call", call}, {"tries", std::to_string(tries)}}, std::move(adapter));
}

Finding trying_slowly(const std::string& call, unsigned tries, MaybeAdapter adapter) {
  return make_finding(FindingId::GivingUp, "slowly",
                      {{"call", call}, {"tries", std::to_string(tries)}}, std::move(adapter));
}

Finding driver_in_use(std::vector<Holder> holders, const std::string& why) {
  Finding finding = overall(FindingId::DriverInUse, {{"reason", why}, {"who", who_holds(holders)}});
  finding.holders = std::move(holders);
  return finding;
}

Finding holders_unknown(const Snapshot& snapshot, const std::string& why) {
  const Error* error = snapshot.holders.error();
  return overall(FindingId::HoldersUnknown,
                 {{"reason", why},
                  {"error", error != nullptr ? error->message()
                                             : "the kernel does not tell vmw_pvrdma's refcount"}});
}

Finding slow(const Adapter& adapter, Milliseconds limit) {
  return about(adapter, FindingId::Slow, {{"limit", seconds(limit)}});
}

Finding look_stuck(BootTime since) {
  return overall(FindingId::LookStuck, {{"since", wall_time(since)}});
}

Finding config_bad(const std::string& error, bool none_good) {
  return overall(FindingId::ConfigBad, {{"error", error}}, none_good ? "start" : "file");
}

void put_config_bad(std::vector<Finding>& findings, const std::string& error, bool none_good) {
  // port-down says itself that no reload is allowed, netdev-lost does not.
  const bool is_told = none_good && !std::ranges::any_of(findings, [](const Finding& one) {
                         return one.id == FindingId::NetdevLost;
                       });
  std::erase_if(findings, [&](const Finding& one) {
    return one.id == FindingId::ActionRefused || (is_told && one.id == FindingId::ReloadForbidden);
  });
  // No file says "never": it is a part of the safe subset.
  if (none_good)
    for (Finding& one : findings)
      if (one.id == FindingId::ReloadForbidden) one = overall(one.id, one.values, "start");
  findings.insert(findings.begin(), config_bad(error, none_good));
}

Finding config_left_out(const std::string& error) {
  return overall(FindingId::ConfigBad, {{"error", error}}, "guestinfo");
}

Finding customization_awaited(const std::string& what, Milliseconds patience) {
  return overall(FindingId::CustomizationAwaited,
                 {{"what", what}, {"patience", seconds(patience)}});
}

Finding customization_late(const std::string& what, Milliseconds patience) {
  return overall(FindingId::CustomizationLate, {{"what", what}, {"patience", seconds(patience)}});
}

Finding link_down_not_ours(const Adapter& adapter, const LinkOwner* owner) {
  return not_ours(adapter, FindingId::LinkDown, {{"netdev", adapter.netdev.get()->name}}, owner,
                  {});
}

Finding mtu_differs(const Adapter& adapter, const LinkOwner* owner, unsigned mtu) {
  const Netdev& netdev = *adapter.netdev.get();
  return not_ours(adapter, FindingId::MtuDiffers,
                  {{"netdev", netdev.name},
                   {"mtu", std::to_string(netdev.mtu)},
                   {"configured", std::to_string(mtu)}},
                  owner, owner != nullptr ? advice::set_mtu(*owner, netdev, mtu) : "");
}

Finding address_missing(const Adapter& adapter, const LinkOwner* owner,
                        const std::string& address) {
  const Netdev& netdev = *adapter.netdev.get();
  return not_ours(adapter, FindingId::AddressMissing,
                  {{"address", address}, {"netdev", netdev.name}}, owner,
                  owner != nullptr ? advice::set_address(*owner, netdev, address) : "");
}

Finding mtu_impossible(const Adapter& adapter, const Netdev& netdev, unsigned mtu) {
  return about(adapter, FindingId::MtuImpossible,
               {{"netdev", netdev.name},
                {"configured", std::to_string(mtu)},
                {"least", std::to_string(netdev.mtu_min.value_or(0))},
                {"most", std::to_string(netdev.mtu_max.value_or(0))}});
}

Finding mtu_waits(const Adapter& adapter, const Netdev& netdev, unsigned mtu,
                  std::vector<Holder> holders) {
  Finding finding = about(adapter, FindingId::MtuWaits,
                          {{"netdev", netdev.name},
                           {"mtu", std::to_string(netdev.mtu)},
                           {"configured", std::to_string(mtu)},
                           {"who", who_holds(holders)}});
  finding.holders = std::move(holders);
  return finding;
}

Finding address_waits(const Adapter& adapter, const std::string& address, std::string_view variant,
                      std::vector<Holder> holders) {
  Finding finding = about(
      adapter, FindingId::AddressWaits,
      {{"netdev", adapter.netdev.get()->name}, {"address", address}, {"who", who_holds(holders)}},
      variant);
  finding.holders = std::move(holders);
  return finding;
}

Finding same_subnet(const Adapter& adapter, const Adapter& other, const std::string& address) {
  return about(adapter, FindingId::SameSubnet,
               {{"netdev", adapter.netdev.get()->name},
                {"address", address},
                {"other", other.netdev.get()->name}});
}

Finding two_owners(const Adapter& adapter, const LinkOwner& owner) {
  const Netdev& netdev = *adapter.netdev.get();
  return about(adapter, FindingId::TwoOwners,
               {{"manager", describe(owner)},
                {"netdev", netdev.name},
                {"advice", advice::leave_link_to_us(owner, netdev)}});
}

}  // namespace findings

}  // namespace pvrdma
