// SPDX-License-Identifier: GPL-2.0-or-later
// Rule 4: the links of the adapters. Their addresses wait for a customization of the VM.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/text.hpp"
#include "agent/model/identifiers.hpp"
#include "agent/plan/findings.hpp"
#include "agent/plan/questions.hpp"
#include "agent/plan/rules.hpp"

namespace pvrdma {

namespace {

// The time that udev gets to rename an interface, and that a network manager gets to decide. The
// agent may load vmxnet3 long before udevd starts, ten seconds in a slow VM. A link that is up
// before its rename keeps its old name, and then no configuration matches it.
constexpr Milliseconds kUdevPatience{60'000};
constexpr Milliseconds kManagerPatience{60'000};
constexpr Milliseconds kDownPatience{1000};

// Configured addresses that are not on the link.
std::vector<std::string> missing_addresses(const AdapterConfig& wanted, const Netdev& netdev) {
  std::vector<std::string> missing;
  for (const std::string& address : wanted.addresses)
    if (find_address(netdev.addresses, address) == nullptr) missing.push_back(address);
  return missing;
}

// Addresses that this agent has set and the configuration no longer names.
std::vector<std::string> dropped_addresses(const Config& config, const AdapterConfig& wanted,
                                           const Netdev& netdev) {
  std::vector<std::string> dropped;
  if (!config.complete) return dropped;
  for (const LinkAddress& address : netdev.addresses)
    if (address.ours && !contains(wanted.addresses, address.text) &&
        !has_foreign_twin(netdev.addresses, address))
      dropped.push_back(address.text);
  return dropped;
}

// Whether the agent has set the address with another prefix length, and must remove that one first.
// A link can have an IPv6 address only once. It can have an IPv4 address twice, but the GID is one,
// and goes with the first of the two (addr_event(), Linux drivers/infiniband/core/roce_gid_mgmt.c).
// An address that has a foreign twin is not removed, so nothing waits for that.
bool awaits_removal(const std::string& address, const AdapterConfig& wanted, const Netdev& netdev) {
  return std::any_of(netdev.addresses.begin(), netdev.addresses.end(),
                     [&](const LinkAddress& other) {
                       return other.ours && !contains(wanted.addresses, other.text) &&
                              without_prefix(other.text) == without_prefix(address) &&
                              !has_foreign_twin(netdev.addresses, other);
                     });
}

// Addresses that this agent has set, and for which the kernel has found a duplicate on another
// host. The kernel does not use them and never tries again by itself, so they have to be set anew
// (Linux net/ipv6/addrconf.c, addrconf_dad_stop()).
std::vector<std::string> duplicate_addresses(const AdapterConfig& wanted, const Netdev& netdev) {
  std::vector<std::string> duplicates;
  for (const LinkAddress& address : netdev.addresses)
    if (address.ours && address.duplicate && contains(wanted.addresses, address.text))
      duplicates.push_back(address.text);
  return duplicates;
}

bool is_possible(const Netdev& netdev, unsigned mtu) {
  return mtu >= netdev.mtu_min.value_or(mtu) && mtu <= netdev.mtu_max.value_or(mtu);
}

// Whether MTU and addresses may be set already, besides bringing the link up.
bool may_be_given_more(const Inputs& in, Draft& draft, const Adapter& adapter, Manage manage) {
  if (awaits_customization(in)) return false;
  const Netdev& netdev = *adapter.netdev.get();
  if (manage == Manage::Agent || netdev.owner.is_absent()) return true;
  return has_come(history_of(in, adapter).first_seen + kManagerPatience, in, draft);
}

// A change that is due, with its reason. An empty `reason`: no change is due.
struct Change {
  std::optional<unsigned> mtu;
  std::vector<std::string> addresses;
  bool removes = false;  // addresses that are no longer configured
  std::string reason;
  bool renews = false;  // sets a duplicate address anew

  // The first reason counts.
  void because(std::string why) {
    if (reason.empty()) reason = std::move(why);
  }
};

// As of holders_of().
using Holders = std::optional<std::vector<Holder>>;

void change_mtu(Draft& draft, const Adapter& adapter, unsigned wanted, const Holders& holders,
                Change& change) {
  const Netdev& netdev = *adapter.netdev.get();
  if (!is_possible(netdev, wanted)) {
    draft.find(findings::mtu_impossible(adapter, netdev, wanted));
  } else if (netdev.link_up && holders) {
    draft.find(findings::mtu_waits(adapter, netdev, wanted, *holders));
  } else {
    change.mtu = wanted;
    change.because("the MTU of " + netdev.name + " is " + std::to_string(netdev.mtu) +
                   ", configured is " + std::to_string(wanted));
  }
}

void add_missing(const Netdev& netdev, const std::vector<std::string>& missing, Change& change) {
  // Without carrier ARP cannot find another host that has the address.
  if (missing.empty() || (netdev.link_up && netdev.carrier.is(false))) return;
  change.addresses = missing;
  change.because(missing.front() + " is configured and not on " + netdev.name);
}

void renew_duplicates(Draft& draft, const Adapter& adapter,
                      const std::vector<std::string>& duplicates, const Holders& holders,
                      Change& change) {
  for (const std::string& address : duplicates)
    if (holders) {
      draft.find(findings::address_waits(adapter, address, "duplicate", *holders));
    } else {
      change.renews = true;
      change.addresses.push_back(address);
      change.because(address + " on " + adapter.netdev.get()->name +
                     " was found to be another host's as well");
    }
}

void remove_dropped(Draft& draft, const Adapter& adapter, const std::vector<std::string>& dropped,
                    const Holders& holders, Change& change) {
  for (const std::string& address : dropped)
    if (holders) {
      draft.find(findings::address_waits(adapter, address, "removed", *holders));
    } else {
      change.removes = true;
      change.because(address + " on " + adapter.netdev.get()->name + " is no longer configured");
    }
}

Change change_due(const Inputs& in, Draft& draft, const Adapter& adapter,
                  const AdapterConfig& wanted) {
  const Netdev& netdev = *adapter.netdev.get();
  Change change;
  if (!netdev.link_up)
    change.because("the link of " + netdev.name + " is down, and the port follows it");
  const bool other_mtu = wanted.mtu && *wanted.mtu != netdev.mtu;
  const auto dropped = dropped_addresses(in.config, wanted, netdev);
  auto missing = missing_addresses(wanted, netdev);
  // Without carrier no duplicate can be detected.
  const auto duplicates = netdev.link_up && !netdev.carrier.is(false)
                              ? duplicate_addresses(wanted, netdev)
                              : std::vector<std::string>{};
  if (!other_mtu && dropped.empty() && missing.empty() && duplicates.empty()) return change;
  if (!may_be_given_more(in, draft, adapter, wanted.manage)) return change;
  const Holders holders = holders_of(in.snapshot, adapter);
  if (dropped.empty() || holders)
    std::erase_if(missing, [&](const std::string& address) {
      return awaits_removal(address, wanted, netdev);
    });
  if (other_mtu) change_mtu(draft, adapter, *wanted.mtu, holders, change);
  add_missing(netdev, missing, change);
  renew_duplicates(draft, adapter, duplicates, holders, change);
  remove_dropped(draft, adapter, dropped, holders, change);
  return change;
}

// The executor reads the files anew and removes each address of ours that they do not name. It
// refuses a request with an address that they do not name, so the request names what stays.
void name_what_stays(const AdapterConfig& wanted, const Netdev& netdev, Change& change) {
  for (const LinkAddress& address : netdev.addresses)
    if (contains(wanted.addresses, address.text) && !contains(change.addresses, address.text))
      change.addresses.push_back(address.text);
}

void report_duplicates(const Adapter& adapter, Draft& draft) {
  const Netdev& netdev = *adapter.netdev.get();
  for (const LinkAddress& address : netdev.addresses)
    if (address.duplicate)
      draft.find(about(adapter, FindingId::AddressDuplicate,
                       {{"netdev", netdev.name}, {"address", address.text}}));
}

void report_foreign_link(Draft& draft, const Adapter& adapter, const AdapterConfig& wanted) {
  const Netdev& netdev = *adapter.netdev.get();
  const LinkOwner* owner = other_owner(adapter);
  if (!netdev.link_up) draft.find(findings::link_down_not_ours(adapter, owner));
  if (wanted.mtu && *wanted.mtu != netdev.mtu)
    draft.find(findings::mtu_differs(adapter, owner, *wanted.mtu));
  for (const std::string& address : missing_addresses(wanted, netdev))
    draft.find(findings::address_missing(adapter, owner, address));
}

// Whether to leave the link alone for a moment. The agent takes no link down, so the program that
// did may be about to do more: ifenslave takes a link down to enslave it, which fails if the link
// is up again.
bool was_just_taken_down(const Inputs& in, Draft& draft, const Adapter& adapter) {
  const BootTime downed = history_of(in, adapter).downed;
  return !adapter.netdev.get()->link_up && downed != BootTime{} &&
         !has_come(downed + kDownPatience, in, draft);
}

void configure_link(const Inputs& in, Draft& draft, const Adapter& adapter) {
  const Netdev& netdev = *adapter.netdev.get();
  const AdapterConfig& wanted = config_of(in.config, adapter);
  report_duplicates(adapter, draft);
  // The owner may be the agent itself or a network manager, and the advice differs.
  if (wanted.manage == Manage::Auto && netdev.owner.is_unreadable()) return;
  if (!link_is_ours(in.config, adapter)) {
    report_foreign_link(draft, adapter, wanted);
    return;
  }
  if (const LinkOwner* owner = other_owner(adapter))
    draft.find(findings::two_owners(adapter, *owner));
  if (!is_live(in.snapshot, kDriverModule) || !adapter.driver.is_known()) return;
  // A network manager that restarts is undecided for a moment, but still has its link.
  const BootTime managed = history_of(in, adapter).managed;
  if (wanted.manage == Manage::Auto && !netdev.owner.is_absent() && managed != BootTime{} &&
      !has_come(managed + kManagerPatience, in, draft))
    return;
  if (was_just_taken_down(in, draft, adapter)) return;
  Change change = change_due(in, draft, adapter, wanted);
  if (change.reason.empty()) return;
  if (change.removes) name_what_stays(wanted, netdev, change);
  // A duplicate ends when the other host is gone, but no event here tells that.
  const Afterwards afterwards = change.renews
                                    ? Afterwards::TrySlowly
                                    : slowly_if_failed(in, Verb::ConfigureLink, adapter.function);
  // udev cannot rename a link that is up (EBUSY), so the agent waits for udev, with a limit.
  if (!netdev.link_up && !udev_is_done(in, adapter, draft)) return;
  try_within_budget(
      in, draft,
      ConfigureLink{adapter.function, netdev.name, change.mtu, change.addresses, change.removes},
      std::move(change.reason), adapter.function, afterwards);
}

}  // namespace

bool awaits_customization(const Inputs& in) {
  return !in.snapshot.customization.is_absent() && in.now < in.history.customized_until;
}

void report_customization(const Inputs& in, Draft& draft) {
  const Field<std::string>& customization = in.snapshot.customization;
  if (customization.is_absent()) return;
  const std::string what = customization.is_known() ? *customization.get()
                                                    : "a customization of this VM (" +
                                                          customization.error()->message() + ")";
  if (awaits_customization(in)) {
    draft.look_by(in.history.customized_until);
    draft.find(findings::customization_awaited(what, kCustomizationPatience));
  } else {
    draft.find(findings::customization_late(what, kCustomizationPatience));
  }
}

void configure_links(const Inputs& in, Draft& draft) {
  for (const Adapter& adapter : *in.snapshot.adapters.get())
    if (adapter.netdev.is_known()) configure_link(in, draft, adapter);
}

bool udev_is_done(const Inputs& in, const Adapter& adapter, Draft& draft) {
  const Netdev* netdev = adapter.netdev.get();
  return netdev == nullptr || netdev->settled.is(true) ||
         has_settled(in, adapter, draft, kUdevPatience);
}

bool link_is_complete(const Config& config, const Adapter& adapter) {
  const Netdev* netdev = adapter.netdev.get();
  const AdapterConfig& wanted = config_of(config, adapter);
  if (netdev == nullptr || !netdev->link_up) return false;
  if (!link_is_ours(config, adapter)) return true;
  return std::all_of(wanted.addresses.begin(), wanted.addresses.end(),
                     [&](const std::string& text) {
                       const LinkAddress* address = find_address(netdev->addresses, text);
                       return address != nullptr && !address->tentative && !address->duplicate;
                     });
}

}  // namespace pvrdma
