#include "agent/plan/doctor/adapter_rows.hpp"

#include <array>
#include <cstdio>

#include "agent/base/text.hpp"
#include "agent/plan/gid.hpp"

namespace pvrdma::doctor {

namespace {

std::string word(const Field<std::string>& field, const char* absent) {
  if (field.is_known()) return *field.get();
  return field.is_absent() ? absent : "unreadable";
}

std::string word(const Field<bool>& field, const char* yes, const char* no) {
  if (field.is_known()) return *field.get() ? yes : no;
  return std::string{yes} + (field.is_absent() ? ": not told" : ": unreadable");
}

std::string link_line(const Netdev& netdev) {
  std::string line = netdev.name + ": " + (netdev.up ? "up" : "down") + ", " +
                     word(netdev.carrier, "carrier", "no carrier") + ", MTU " +
                     std::to_string(netdev.mtu) + ", MAC " + netdev.mac;
  if (const LinkOwner* owner = netdev.owner.get())
    line += std::string{", of "} + to_string(owner->manager);
  std::vector<std::string> addresses;
  for (const LinkAddress& address : netdev.addresses)
    addresses.push_back(address.text + (address.duplicate ? " (duplicate)" : ""));
  line += ", " + (addresses.empty() ? "no address" : joined(addresses));
  if (netdev.default_route.is(true)) line += ", default route";
  return line;
}

template <typename T>
void take_error(const Field<T>& field, Check& check) {
  if (const Error* error = field.error()) check.unread.push_back(error->message());
}

}  // namespace

std::string pair_line(const Adapter& adapter) {
  const Netdev* netdev = adapter.netdev.get();
  return adapter.function + " (" + word(adapter.driver, "no driver") + ") with " +
         adapter.net_function + " (" + word(adapter.net_driver, "no driver") + ", " +
         (netdev != nullptr ? netdev->name : "no interface here") + ")";
}

std::string node_line(const DeviceNode& node) {
  std::array<char, 8> mode{};
  std::snprintf(mode.data(), mode.size(), "%04o", node.mode);
  return node.name + " (" + mode.data() +
         (node.openable.is(true)    ? ""
          : node.openable.is(false) ? ", closed to this user"
                                    : ", ?") +
         ")";
}

Check links(const Snapshot& snapshot) {
  Check check{
      "links",
      {},
      {},
      {"no-carrier", "link-down", "mtu-differs", "mtu-impossible", "mtu-waits", "address-missing",
       "address-duplicate", "address-outside", "same-subnet", "default-route", "two-owners",
       "first-nic", "container-network", "config-matches-nothing", "config-bad"}};
  for (const Adapter& adapter : snapshot.adapters.value_or({})) {
    if (const Netdev* netdev = adapter.netdev.get()) {
      check.evidence.push_back(link_line(*netdev));
      take_error(netdev->owner, check);
      take_error(netdev->default_route, check);
    } else if (adapter.netdev.is_absent()) {
      check.evidence.push_back(adapter.net_function + ": no interface here");
    }
    take_error(adapter.netdev, check);
  }
  return check;
}

Check ports(const Snapshot& snapshot) {
  Check check{
      "ports", {}, {}, {"port-down", "netdev-lost", "verbs-unusable", "slow", "unreadable"}};
  for (const Adapter& adapter : snapshot.adapters.value_or({})) {
    take_error(adapter.rdma, check);
    const RdmaDevice* rdma = adapter.rdma.get();
    if (rdma == nullptr) {
      if (adapter.rdma.is_absent()) check.evidence.push_back(adapter.function + ": no RDMA device");
      continue;
    }
    const Port& port = rdma->port;
    check.evidence.push_back(rdma->name + ": port " + word(port.state, "without a state") + ", " +
                             word(port.phys_state, "physical state not told") + ", " +
                             word(port.link_layer, "link layer not told") + ", netdev " +
                             word(rdma->netdev, "none"));
    take_error(port.state, check);
    take_error(port.phys_state, check);
    take_error(rdma->netdev, check);
  }
  return check;
}

Check gids(const Config& config, const Snapshot& snapshot) {
  Check check{"GIDs", {}, {}, {"gid-missing", "container-network"}};
  for (const Adapter& adapter : snapshot.adapters.value_or({})) {
    const RdmaDevice* rdma = adapter.rdma.get();
    if (rdma == nullptr) continue;
    const auto chosen = application_gid(config, adapter);
    if (rdma->gids.empty()) check.evidence.push_back(rdma->name + ": none");
    for (const Gid& gid : rdma->gids) {
      const bool is_chosen = chosen && chosen->index == gid.index;
      check.evidence.push_back(rdma->name + " " + std::to_string(gid.index) + ": " + gid.gid +
                               ", " + word(gid.type, "type not told") +
                               (is_chosen ? " (for applications)" : ""));
    }
  }
  return check;
}

}  // namespace pvrdma::doctor
