// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/executor/link.hpp"

#include <algorithm>
#include <cerrno>

#include "agent/base/text.hpp"
#include "agent/executor/duplicate.hpp"
#include "agent/model/identifiers.hpp"
#include "probes/pci.hpp"

namespace pvrdma::executor {

namespace {

// vmxnet3 has carrier within milliseconds after its link comes up, if it has any.
constexpr Milliseconds kCarrierPatience{2000};

bool is_recorded(const AddressRecords& records, const std::string& mac,
                 const std::string& address) {
  return std::any_of(records.begin(), records.end(), [&](const probes::RecordedAddress& entry) {
    return entry.mac == mac && entry.address == address;
  });
}

void forget(AddressRecords& records, const std::string& mac, const std::string& address) {
  std::erase_if(records, [&](const probes::RecordedAddress& entry) {
    return entry.mac == mac && entry.address == address;
  });
}

// None: the address may be set.
std::optional<OperationResult> refuse_duplicate(RouteSocket& socket, const Netdev& link,
                                                const std::string& address) {
  const auto carrier = socket.await_carrier(link.index, kCarrierPatience);
  if (!carrier) return failed(carrier.error());
  if (!*carrier)
    return failed({ENETDOWN, "looking for other users of " + address + " on", link.name});
  const auto other = find_duplicate(link.index, link.mac, address);
  if (!other) return failed(other.error());
  if (!*other) return std::nullopt;
  return OperationResult{
      Outcome::Failed, address + " is not set: " + **other + " has it already", EADDRINUSE, {}};
}

// Adds an address that is not on the link and is in the records.
OperationResult add_recorded(RouteSocket& socket, const Netdev& link, const std::string& address) {
  const auto added = socket.add_address(link.index, address);
  if (!added) return failed(added.error());
  return *added ? done() : already_done(address + " is there");
}

// Adds an address that is not on the link.
OperationResult add(RouteSocket& socket, const Netdev& link, const std::string& address,
                    AddressRecords& records, const SaveRecords& save) {
  if (is_recorded(records, lasting_mac(link), address)) return add_recorded(socket, link, address);
  if (!is_ipv6(address))
    if (auto refused = refuse_duplicate(socket, link, address)) return std::move(*refused);
  records.push_back({lasting_mac(link), address, false});
  const auto saved = save(records);
  if (!saved) {
    records.pop_back();
    return failed(
        {saved.error().code, address + " is not set: " + saved.error().doing, saved.error().what});
  }
  OperationResult result = add_recorded(socket, link, address);
  if (result.outcome == Outcome::Done) return result;
  records.pop_back();
  // The save may fail: a record without an address has no effect, unless another program sets that
  // address.
  static_cast<void>(save(records));
  return result;
}

// Records whether the kernel has kept the mark of the addresses that were just set.
void note_marks(const std::vector<LinkAddress>& now, const std::string& mac,
                AddressRecords& records) {
  for (probes::RecordedAddress& entry : records) {
    const LinkAddress* address = entry.mac == mac ? find_address(now, entry.address) : nullptr;
    if (address != nullptr) entry.marked = address->ours;
  }
}

// True for an address that this agent has set and the configuration no longer names.
bool is_dropped(const LinkAddress& address, const LinkSettings& settings) {
  return settings.complete && address.ours && !contains(settings.configured, address.text);
}

// True for an address to be added that is on the link as a duplicate, so that it is useless: the
// kernel checks for duplicates only when an address is new.
bool is_to_be_renewed(const LinkAddress& address, const LinkSettings& settings) {
  return address.ours && address.duplicate && contains(settings.addresses, address.text);
}

// The part of configure_link() for addresses; the link must be up. If one address fails, the others
// are still set.
OperationResult configure_addresses(RouteSocket& socket, const Netdev& link,
                                    const LinkSettings& settings, AddressRecords& records,
                                    const SaveRecords& save) {
  auto now = socket.addresses(link.index);
  if (!now) return failed(now.error());
  probes::claim_unmarked(records, lasting_mac(link), *now);
  OperationResult result = already_done({});
  const auto take = [&](OperationResult part) {
    if (!part.good() && result.good())
      result = std::move(part);
    else if (part.outcome == Outcome::Done && result.good())
      result = done();
  };
  std::optional<OperationResult> kept;
  std::vector<std::string> gone;  // addresses to be set anew
  for (const LinkAddress& address : *now) {
    const bool renewed = is_to_be_renewed(address, settings);
    if (!renewed && !is_dropped(address, settings)) continue;
    if (settings.keep) {
      kept = settings.keep;
      kept->detail = address.text + " stays on " + link.name + ": " + kept->detail;
      continue;
    }
    const auto removed = socket.remove_address(link.index, address.text);
    if (removed && renewed) gone.push_back(address.text);
    if (removed && !renewed) forget(records, lasting_mac(link), address.text);
    take(removed ? done() : failed(removed.error()));
  }
  bool added = false;
  for (const std::string& address : settings.addresses) {
    if (find_address(*now, address) != nullptr && !contains(gone, address)) continue;
    OperationResult part = add(socket, link, address, records, save);
    added = added || part.outcome == Outcome::Done;
    take(std::move(part));
  }
  if (!added) return kept && result.outcome == Outcome::AlreadyDone ? std::move(*kept) : result;
  if (const auto after = socket.addresses(link.index))
    note_marks(*after, lasting_mac(link), records);
  return result;
}

}  // namespace

Result<int> interface_of(const Root& root, const std::string& net_function,
                         const std::string& netdev) {
  const auto path = probes::function_path(root, net_function) / "net" / netdev / "ifindex";
  const auto text = read_attribute(path);
  if (!text) return fail(text.error());
  const auto index = number_from<int>(*text);
  if (!index || *index <= 0) return fail(EBADMSG, "reading", path);
  return *index;
}

OperationResult configure_link(RouteSocket& socket, int index, const LinkSettings& settings,
                               AddressRecords& records, const SaveRecords& save) {
  const auto link = socket.link(index);
  if (!link) return failed(link.error());
  bool changed = false;
  if (settings.mtu && *settings.mtu != link->mtu) {
    if (auto set = socket.set_mtu(index, *settings.mtu); !set) return failed(set.error());
    changed = true;
  }
  if (!link->link_up) {
    if (auto set = socket.bring_up(index); !set) return failed(set.error());
    changed = true;
  }
  OperationResult addresses = configure_addresses(socket, *link, settings, records, save);
  if (addresses.outcome == Outcome::Failed || (!changed && !addresses.good())) return addresses;
  if (changed || addresses.outcome == Outcome::Done) return done();
  return already_done(link->name + " is up and as configured");
}

}  // namespace pvrdma::executor
