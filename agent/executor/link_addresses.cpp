// SPDX-License-Identifier: GPL-2.0-or-later
// The addresses of a link: which to remove, which to set, and which of them are ours.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "agent/base/clock.hpp"
#include "agent/base/text.hpp"
#include "agent/executor/link.hpp"
#include "agent/model/identifiers.hpp"

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

// None: the address may be set. The first address waits for the carrier, and leaves no patience to
// the others of the same call.
std::optional<OperationResult> refuse_duplicate(RouteSocket& socket, const Netdev& link,
                                                const std::string& address,
                                                Milliseconds& patience) {
  const auto carrier = socket.await_carrier(link.index, std::exchange(patience, Milliseconds{0}));
  if (!carrier) return failed(carrier.error());
  if (!*carrier)
    return failed({ENETDOWN, "looking for other users of " + address + " on", link.name});
  const auto other = find_duplicate(link.index, link.mac, address);
  if (!other) return failed(other.error());
  if (!*other) return std::nullopt;
  return OperationResult{
      Outcome::Failed, address + " is not set: " + **other + " has it already", EADDRINUSE, {}};
}

// Why the kernel takes no IPv6 address, after a colon; empty: errno's text says it.
std::string why_without_ipv6(const Netdev& link, int code) {
  // addrconf_add_dev(), Linux net/ipv6/addrconf.c
  if (code == EACCES)
    return ": IPv6 is switched off for " + link.name + " (net.ipv6.conf." + link.name +
           ".disable_ipv6)";
  if (code == EOPNOTSUPP) return ": this kernel runs without IPv6 (ipv6.disable=1)";
  return {};
}

// Adds an address that is not on the link and is in the records.
OperationResult add_recorded(RouteSocket& socket, const Netdev& link, const std::string& address) {
  const auto added = socket.add_address(link.index, address);
  if (!added) {
    OperationResult result = failed(added.error());
    if (is_ipv6(address)) result.detail += why_without_ipv6(link, result.code);
    return result;
  }
  return *added ? done() : already_done(address + " is there");
}

// Adds an address that is not on the link.
OperationResult add(RouteSocket& socket, const Netdev& link, const std::string& address,
                    AddressRecords& records, const SaveRecords& save, Milliseconds& patience) {
  if (is_recorded(records, lasting_mac(link), address)) return add_recorded(socket, link, address);
  if (!is_ipv6(address))
    if (auto refused = refuse_duplicate(socket, link, address, patience))
      return std::move(*refused);
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

// Records for which addresses the kernel has kept the mark. A recorded mark that is gone shows that
// another program has set the address since.
void note_marks(const std::vector<LinkAddress>& now, const std::string& mac,
                AddressRecords& records) {
  for (probes::RecordedAddress& entry : records) {
    const LinkAddress* address = entry.mac == mac ? find_address(now, entry.address) : nullptr;
    if (address != nullptr && address->ours) entry.marked = true;
  }
}

// True for an address that this agent has set and the configuration no longer names.
bool is_obsolete(const LinkAddress& address, const LinkSettings& settings) {
  return address.ours && !contains(settings.configured, address.text);
}

bool is_dropped(const std::vector<LinkAddress>& now, const LinkAddress& address,
                const LinkSettings& settings) {
  return settings.removes && is_obsolete(address, settings) && !has_foreign_twin(now, address);
}

// True for an address to be added that is on the link and useless. A duplicate is: the kernel
// checks for duplicates only when an address is new. So is an IPv4 address that loses its GID
// because the same with another prefix length is dropped (has_foreign_twin()).
bool is_to_be_renewed(const std::vector<LinkAddress>& now, const LinkAddress& address,
                      const LinkSettings& settings) {
  if (!address.ours || !contains(settings.addresses, address.text)) return false;
  return address.duplicate || std::ranges::any_of(now, [&](const LinkAddress& other) {
           return without_prefix(other.text) == without_prefix(address.text) &&
                  is_dropped(now, other, settings);
         });
}

// The address on the link that must be removed before `address` is set: the same with another
// prefix length (awaits_removal(), agent/plan/link_rule.cpp, has the reason). Null: none.
const LinkAddress* obstacle(const std::vector<LinkAddress>& present, const std::string& address,
                            const LinkSettings& settings) {
  const auto found = std::find_if(present.begin(), present.end(), [&](const LinkAddress& other) {
    return without_prefix(other.text) == without_prefix(address) &&
           (is_ipv6(address) ||
            (is_obsolete(other, settings) && !has_foreign_twin(present, other)));
  });
  return found == present.end() ? nullptr : &*found;
}

}  // namespace

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
  std::vector<LinkAddress> present;  // after the removals
  std::optional<Alone> alone;
  for (const LinkAddress& address : *now) {
    const bool renewed = is_to_be_renewed(*now, address, settings);
    present.push_back(address);
    if (!renewed && !is_dropped(*now, address, settings)) continue;
    if (!alone) alone = settings.begin_alone();
    if (alone->refused) {
      kept = alone->refused;
      kept->detail = address.text + " stays on " + link.name + ": " + kept->detail;
      continue;
    }
    const auto removed = socket.remove_address(link.index, address.text);
    if (removed) present.pop_back();
    if (removed && !renewed) forget(records, lasting_mac(link), address.text);
    take(removed ? done() : failed(removed.error()));
  }
  alone.reset();  // adding takes longer, and harms no process
  bool added = false;
  Milliseconds patience = kCarrierPatience;
  for (const std::string& address : settings.addresses) {
    if (find_address(present, address) != nullptr) continue;
    if (const LinkAddress* other = obstacle(present, address, settings)) {
      if (!kept)
        take({Outcome::Failed,
              address + " is not set: " + link.name + " has " + other->text,
              EEXIST,
              {}});
      continue;
    }
    OperationResult part = add(socket, link, address, records, save, patience);
    added = added || part.outcome == Outcome::Done;
    take(std::move(part));
  }
  if (!added) return kept && result.outcome == Outcome::AlreadyDone ? std::move(*kept) : result;
  if (const auto after = socket.addresses(link.index))
    note_marks(*after, lasting_mac(link), records);
  return result;
}

}  // namespace pvrdma::executor
