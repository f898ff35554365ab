// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/executor/facts.hpp"

#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "agent/base/program.hpp"
#include "agent/base/text.hpp"
#include "agent/executor/link.hpp"
#include "agent/executor/route_socket.hpp"
#include "probes/holders.hpp"
#include "probes/link_owner.hpp"
#include "probes/modules.hpp"
#include "probes/port_query.hpp"
#include "probes/rdma.hpp"
#include "probes/systemd.hpp"

namespace pvrdma::executor {

namespace {

Field<std::string> attribute_of_netdev(const Root& root, const probes::PciAdapter& pci,
                                       const char* name) {
  if (pci.netdev.is_unreadable()) return Field<std::string>::unreadable(*pci.netdev.error());
  if (!pci.netdev.is_known()) return {};
  return Field<std::string>::from(read_attribute(probes::function_path(root, pci.net_function) /
                                                 "net" / *pci.netdev.get() / name));
}

// An attribute of the netdev, converted by `parse`; unreadable where `parse` yields none.
template <typename T>
Field<T> number_of_netdev(const Root& root, const probes::PciAdapter& pci, const char* name,
                          std::optional<T> (*parse)(std::string_view)) {
  const auto text = attribute_of_netdev(root, pci, name);
  if (text.is_unreadable()) return Field<T>::unreadable(*text.error());
  if (text.is_absent()) return {};
  const auto value = parse(*text.get());
  return value ? Field<T>{*value} : Field<T>::unreadable({EBADMSG, "reading", name});
}

// "0x1003": IFF_UP is the lowest bit.
std::optional<bool> up_from(std::string_view flags) {
  if (!flags.starts_with("0x")) return std::nullopt;
  const auto bits = number_from<unsigned>(flags.substr(2), 16);
  return bits ? std::optional{(*bits & IFF_UP) != 0} : std::nullopt;
}

std::optional<unsigned> mtu_from(std::string_view text) { return number_from<unsigned>(text); }

// Only netlink has the permanent MAC.
Field<std::string> permanent_mac(int index) {
  const auto link =
      RouteSocket::open().and_then([&](RouteSocket socket) { return socket.link(index); });
  if (!link) return Field<std::string>::from(fail(link.error()));
  return link->permanent_mac.empty() ? Field<std::string>{} : link->permanent_mac;
}

// The facts that the guard needs only for ConfigureLink of this adapter.
void look_at_link(const Root& root, AdapterFacts& adapter) {
  const probes::PciAdapter& pci = adapter.pci;
  adapter.mac = attribute_of_netdev(root, pci, "address");
  adapter.mtu = number_of_netdev(root, pci, "mtu", mtu_from);
  adapter.link_up = number_of_netdev(root, pci, "flags", up_from);
  if (const Error* error = pci.netdev.error())
    adapter.permanent_mac = Field<std::string>::unreadable(*error);
  if (!pci.netdev.is_known()) return;
  const auto index = interface_of(root, pci.net_function, *pci.netdev.get());
  if (!index) {
    adapter.permanent_mac = Field<std::string>::from(fail(index.error()));
    adapter.owner = Field<LinkOwner>::from(fail(index.error()));
    return;
  }
  adapter.permanent_mac = permanent_mac(*index);
  probes::SystemBus bus{root};
  adapter.owner = probes::link_owner(root, *pci.netdev.get(), *index, bus);
}

// The agent may be asking a port just now, which takes some milliseconds.
constexpr Milliseconds kQueryPatience{1000};

bool asks_port(const Holder& holder) { return holder.command == probes::kPortQueryName; }

// The port-query whose end may leave the adapters without a holder; none: there is no such process.
std::optional<pid_t> query_to_await(const Root& root, const Field<std::vector<Holder>>& found) {
  if (const auto* holders = found.get())
    return !holders->empty() && std::ranges::all_of(*holders, asks_port)
               ? std::optional{holders->front().pid}
               : std::nullopt;
  // Before Linux 5.14 nldev does not name a port-query, which has no protection domain, and the
  // executor may not read the fds of another user's process.
  for (const pid_t pid : list_processes(root).value_or(std::vector<pid_t>{})) {
    const auto process = process_stat(root, pid);
    // A zombie ('Z') holds nothing.
    if (process && process->name == probes::kPortQueryName && process->state != 'Z') return pid;
  }
  return std::nullopt;
}

// The agent's own questions are no reason to refuse its own requests, nor an administrator's, so
// this waits for their ends.
Field<std::vector<Holder>> holders_but_queries(const Root& root,
                                               const std::vector<probes::HeldDevice>& devices) {
  const BootTime deadline = BootClock::now() + kQueryPatience;
  for (;;) {
    auto found = probes::find_holders(root, devices);
    const auto query = query_to_await(root, found);
    if (!query || BootClock::now() >= deadline) return found;
    await_end(*query, deadline);
  }
}

Field<std::vector<Holder>> holders_of(const Root& root, const std::vector<AdapterFacts>& adapters) {
  std::vector<probes::HeldDevice> devices;
  for (const AdapterFacts& adapter : adapters) {
    const auto& device = adapter.pci.rdma_device;
    if (device.is_unreadable()) return Field<std::vector<Holder>>::unreadable(*device.error());
    if (device.is_known())
      devices.push_back(
          {*device.get(), probes::verbs_node(probes::function_path(root, adapter.pci.function))});
  }
  return holders_but_queries(root, devices);
}

Facts look_at_functions(const Root& root, const std::string& link_of) {
  Facts facts;
  auto found = probes::find_adapters(root);
  if (!found) {
    facts.holders = Field<std::vector<Holder>>::unreadable(found.error());
    facts.adapters = Field<std::vector<AdapterFacts>>::unreadable(std::move(found.error()));
    return facts;
  }
  std::vector<AdapterFacts> adapters;
  for (probes::PciAdapter& pci : *found) adapters.push_back({std::move(pci), {}, {}, {}, {}, {}});
  facts.holders = holders_of(root, adapters);
  for (AdapterFacts& adapter : adapters)
    if (adapter.pci.function == link_of) look_at_link(root, adapter);
  facts.adapters = std::move(adapters);
  return facts;
}

}  // namespace

Facts look(const Root& root, const std::string& link_of) {
  Facts facts = look_at_functions(root, link_of);
  // After the wait for a port-query, which the reference count would still contain before.
  facts.driver = probes::look_at_driver(root);
  return facts;
}

}  // namespace pvrdma::executor
