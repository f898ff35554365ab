#include "agent/tools/doctor/adapter_rows.hpp"

#include <algorithm>
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

Standing standing_of(const RdmaDevice& rdma) {
  if (rdma.port.state.is_absent()) return Standing::Unknown;
  return rdma.port.state.is("ACTIVE") && rdma.netdev.is_known() ? Standing::Good : Standing::Plain;
}

constexpr const char* kRoceV1Only =
    "RoCE v1 only, which no router forwards: \"Device Protocol\" of the adapter in vSphere chooses "
    "RoCE v1 or v2";

bool has_only_roce_v1(const std::vector<Gid>& gids) {
  return !gids.empty() &&
         std::all_of(gids.begin(), gids.end(), [](const Gid& gid) { return gid.type.is(kRoceV1); });
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
  Check check{"links", Concern::Links};
  for (const Adapter& adapter : snapshot.adapters.value_or({})) {
    take_error(adapter.netdev, check);
    const Netdev* netdev = adapter.netdev.get();
    if (netdev == nullptr) {
      if (adapter.netdev.is_absent()) check.plain(adapter.net_function + ": no interface here");
      continue;
    }
    const bool works = netdev->up && netdev->carrier.is(true);
    check.add(works ? Standing::Good : Standing::Plain, link_line(*netdev));
    take_error(netdev->carrier, check);
    take_error(netdev->owner, check);
    take_error(netdev->default_route, check);
  }
  return check;
}

Check ports(const Snapshot& snapshot) {
  Check check{"ports", Concern::Ports};
  for (const Adapter& adapter : snapshot.adapters.value_or({})) {
    take_error(adapter.rdma, check);
    const RdmaDevice* rdma = adapter.rdma.get();
    if (rdma == nullptr) {
      if (adapter.rdma.is_absent()) check.plain(adapter.function + ": no RDMA device");
      continue;
    }
    const Port& port = rdma->port;
    check.add(standing_of(*rdma), rdma->name + ": port " + word(port.state, "without a state") +
                                      ", " + word(port.phys_state, "physical state not told") +
                                      ", " + word(port.link_layer, "link layer not told") +
                                      ", netdev " + word(rdma->netdev, "none"));
    take_error(port.state, check);
    take_error(port.phys_state, check);
    take_error(rdma->netdev, check);
  }
  return check;
}

Check gids(const Config& config, const Snapshot& snapshot) {
  Check check{"GIDs", Concern::Gids};
  for (const Adapter& adapter : snapshot.adapters.value_or({})) {
    const RdmaDevice* rdma = adapter.rdma.get();
    if (rdma == nullptr) continue;
    const auto chosen = application_gid(config, adapter);
    if (rdma->gids.empty()) check.plain(rdma->name + ": none");
    for (const Gid& gid : rdma->gids) {
      const bool is_chosen = chosen && chosen->index == gid.index;
      check.note(rdma->name + " " + std::to_string(gid.index) + ": " + gid.gid + ", " +
                 word(gid.type, "type not told") + (is_chosen ? " (for applications)" : ""));
      take_error(gid.type, check);
    }
    if (!rdma->gids.empty())
      check.standing = std::max(check.standing.value_or(Standing::Good),
                                chosen ? Standing::Good : Standing::Plain);
    if (has_only_roce_v1(rdma->gids)) check.note(rdma->name + ": " + kRoceV1Only);
  }
  return check;
}

}  // namespace pvrdma::doctor
