// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/mtu/measurement.hpp"

#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>

#include "agent/base/guarded.hpp"
#include "agent/model/identifiers.hpp"
#include "probes/pci.hpp"

namespace pvrdma::ctl::pmtu {

namespace {

constexpr unsigned kPayloadFirst = 40;    // of IPv4, the least MTU
constexpr unsigned kSecondsFirst = 4;     // ARP and neighbour discovery may take three
constexpr unsigned kSeconds = 1;          // five packets
constexpr unsigned kSecondsTroubled = 2;  // ten packets

// IP header without options or extension headers, and that of ICMP (RFC 791, 8200, 792, 4443).
unsigned headers(const std::string& address) { return (is_ipv6(address) ? 40 : 20) + 8; }

using Tell = std::function<void(const Measurement&)>;

void search(const Programs& programs, const Reply& first, unsigned link_mtu, Measurement& seen,
            const Tell& tell) {
  const unsigned around = headers(seen.address);
  Search search{kPayloadFirst + around, first.sent, link_mtu};
  while (const auto size = search.next()) {
    seen.outcome = search.outcome();
    seen.trying = *size;
    tell(seen);
    if (BootClock::now() >= programs.deadline) return;
    const auto reply = programs.ping(seen.address, *size - around,
                                     search.troubled() ? kSecondsTroubled : kSeconds);
    if (!reply) {
      // A ping that the deadline cut short is no result.
      if (BootClock::now() < programs.deadline) seen.error = reply.error().message();
      return;
    }
    search.heard(*size, *reply);
  }
  seen.outcome = search.outcome();
}

void walk(const Programs& programs, Measurement& seen, const Tell& tell) {
  const auto first = programs.ping(seen.host, kPayloadFirst, kSecondsFirst);
  if (!first) {
    seen.error = first.error().message();
    return;
  }
  seen.address = first->address;
  seen.unreachable = first->unreachable;
  const Link link = programs.link(seen.address);
  seen.interface = link.interface;
  seen.outcome.probes = first->sent;
  if (link.mtu != 0) seen.outcome.link_mtu = link.mtu;
  if (first->fate == Fate::Passed) search(programs, *first, link.mtu, seen, tell);
}

}  // namespace

Carries carries(const Measurement& one, unsigned bytes) {
  if (one.outcome.mtu >= bytes) return Carries::Yes;
  return one.found() ? Carries::No : Carries::Unknown;
}

Carries carries(const Measurements& all, unsigned bytes) {
  Carries worst = Carries::Yes;
  for (const Measurement& one : all) worst = std::max(worst, carries(one, bytes));
  return worst;
}

Result<std::string> interface_of_adapter(const Root& root, const std::string& name) {
  const auto adapters = probes::find_adapters(root);
  if (!adapters) return fail(adapters.error());
  for (const probes::PciAdapter& adapter : *adapters) {
    if (!probes::is_called(adapter, name)) continue;
    if (const std::string* interface = adapter.netdev.get()) return *interface;
    if (const Error* error = adapter.netdev.error()) return fail(*error);
    return fail(0, "no interface to measure from: adapter", adapter.function + " has none");
  }
  return fail(0, "there is no PVRDMA adapter", name);
}

Measurements measure(const std::vector<std::string>& hosts, const Programs& programs,
                     const std::function<void(const Measurements&)>& tell) {
  const BootTime started = BootClock::now();
  Measurements all(hosts.size());
  std::mutex mutex;
  std::condition_variable changed;
  bool news = false;
  const auto publish = [&](std::size_t at, const Measurement& one) {
    const std::lock_guard lock{mutex};
    all[at] = one;
    news = true;
    changed.notify_one();
  };
  std::vector<std::future<void>> walks;
  for (std::size_t at = 0; at < hosts.size(); ++at) {
    all[at].host = hosts[at];
    walks.push_back(std::async(std::launch::async, [&, at, one = all[at]]() mutable {
      guarded_thread([&] {
        walk(programs, one, [&](const Measurement& now) { publish(at, now); });
        one.took = BootClock::now() - started;
        one.done = true;
        publish(at, one);
      });
    }));
  }
  std::unique_lock lock{mutex};
  while (news || !std::ranges::all_of(all, &Measurement::done)) {
    changed.wait(lock, [&] { return news; });
    news = false;
    // Without the lock, as a terminal may be stopped.
    const Measurements now(all.begin(), all.end());
    lock.unlock();
    tell(now);
    lock.lock();
  }
  return all;
}

}  // namespace pvrdma::ctl::pmtu
