// SPDX-License-Identifier: GPL-2.0-or-later
// The rows of one adapter.
#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "agent/base/text.hpp"
#include "agent/ctl/rendering.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma::ctl {

namespace {

constexpr std::size_t kLabel = 15;   // columns, including the two blanks before it
constexpr std::size_t kGidRows = 8;  // one screen
constexpr unsigned kEthernetMtu = 1500;

// The text for a field that is not known.
template <typename T>
std::string lack_in_words(const Field<T>& field, const char* none) {
  return field.is_unreadable() ? "could not be read" : none;
}

std::string rdma_device(const RdmaDevice& rdma) {
  const std::string aliases = joined(rdma.aliases);
  return rdma.name + (aliases.empty() ? "" : ", also known as " + aliases);
}

std::string driver(const Adapter& adapter) {
  if (adapter.driver.is(kDriverModule)) return {};
  return adapter.driver.value_or(
      lack_in_words(adapter.driver, "none: vmw_pvrdma is not bound to it"));
}

std::string port_meaning(PortState state) {
  if (state == PortState::Active) return {};
  if (state == PortState::Down) return " (no RDMA traffic)";
  return " (not usable yet)";
}

// The device has its own packet size.
std::string rdma_mtu_meaning(unsigned rdma_mtu, const Netdev* netdev) {
  constexpr unsigned kUsual = 1024;
  const bool jumbo = netdev != nullptr && netdev->mtu > kEthernetMtu;
  return rdma_mtu == kUsual && jumbo ? " (usual with jumbo frames)" : "";
}

std::string port_words(const Port& port, const Netdev* netdev) {
  std::vector<std::string> parts;
  const PortState* state = port.state.get();
  parts.push_back(state != nullptr ? to_string(*state) + port_meaning(*state) : "state not known");
  if (const PhysState* physical = port.phys_state.get())
    parts.push_back("physical " + to_string(*physical));
  if (const unsigned* mtu = port.active_mtu.get())
    parts.push_back("RDMA MTU " + std::to_string(*mtu) + rdma_mtu_meaning(*mtu, netdev));
  // The device's layer is always Ethernet (RoCE), so only another one is shown.
  if (const std::string* layer = port.link_layer.get(); layer != nullptr && *layer != "Ethernet")
    parts.push_back("link layer " + *layer);
  return joined(parts);
}

std::string link_word(const Netdev& netdev) {
  if (!netdev.link_up) return "link down";
  const bool* carrier = netdev.carrier.get();
  if (carrier == nullptr) return "link up";
  return *carrier ? "link up with carrier" : "link up but no carrier (no signal from the switch)";
}

std::string interface(const Netdev& netdev) {
  std::vector<std::string> parts{netdev.name, link_word(netdev)};
  if (!netdev.mac.empty()) parts.push_back(netdev.mac);
  parts.push_back("MTU " + std::to_string(netdev.mtu));
  return joined(parts);
}

// The netdev that the driver has paired, where it is not the netdev of the slot.
std::string pairing(const RdmaDevice& rdma, const Netdev& netdev) {
  if (rdma.netdev.is(netdev.name)) return {};
  return rdma.netdev.value_or(lack_in_words(
      rdma.netdev, "none: the driver has lost its interface, link changes do not reach it"));
}

std::string gid_rows(const std::vector<Gid>& gids, const std::optional<ApplicationGid>& chosen,
                     const Style& style) {
  std::string out;
  for (const Gid& gid : std::span{gids}.first(std::min(gids.size(), kGidRows))) {
    const bool is_chosen = chosen && chosen->index == gid.index;
    out += row(out.empty() ? "GIDs" : "",
               "index " + std::to_string(gid.index) + ", " + gid.gid + ", " +
                   gid.type.value_or("type not known") + (is_chosen ? " (for applications)" : ""),
               kLabel, style);
  }
  if (gids.size() > kGidRows)
    out += row("", "and " + std::to_string(gids.size() - kGidRows) + " more (all of them: --json)",
               kLabel, style);
  if (has_only_roce_v1(gids))
    out += row("", "RoCE v1 only: see the adapter's \"Device Protocol\" in vSphere", kLabel, style);
  return out;
}

std::string managed_by(const AdapterHealth& health) {
  if (health.managed_by == "agent") return "pvrdma-agent";
  if (health.managed_by == "nobody") return "no program (pvrdma-agent only observes this link)";
  if (health.managed_by == "master") return "its bond, bridge or team";
  return health.managed_by;
}

std::string transitions(const AdapterHealth& health, const Style& style) {
  std::vector<std::string> parts;
  if (health.transitions > 0)
    parts.push_back(std::to_string(health.transitions) + " of the port state, last " +
                    moment(health.last_change, style.now));
  if (health.gid_moves > 0) parts.push_back(std::to_string(health.gid_moves) + " of a GID's index");
  return joined(parts);
}

std::string unreadable_rows(const Adapter& adapter, const Style& style) {
  std::string out;
  for (const auto& [name, error] : unreadable_of(adapter))
    out += row(out.empty() ? "Unreadable" : "", name + ": " + error.message(), kLabel, style);
  return out;
}

}  // namespace

std::string render_adapter(const AdapterHealth& health, const Style& style) {
  const Adapter& adapter = health.adapter;
  const RdmaDevice* rdma = adapter.rdma_device.get();
  const Netdev* netdev = adapter.netdev.get();
  std::string out = painted(printable(adapter.function), Colour::Bold, style) + "  " +
                    painted(to_string(health.state), colour_of(health.state), style) + "\n";
  out += row("Driver", driver(adapter), kLabel, style);
  out += row("RDMA device",
             rdma ? rdma_device(*rdma)
                  : lack_in_words(adapter.rdma_device, "none: the driver has not registered one"),
             kLabel, style);
  if (rdma) out += row("Port", port_words(rdma->port, netdev), kLabel, style);
  out += row("Interface",
             netdev ? interface(*netdev)
                    : lack_in_words(adapter.netdev, "none: vmxnet3 has not registered one"),
             kLabel, style);
  if (rdma && netdev) out += row("Paired with", pairing(*rdma, *netdev), kLabel, style);
  if (netdev)
    out +=
        row("Addresses", netdev->addresses.empty() ? "none" : addresses_of(*netdev), kLabel, style);
  if (rdma) out += gid_rows(rdma->gids, health.application_gid, style);
  out += row("Managed by", managed_by(health), kLabel, style);
  out += row("Changes", transitions(health, style), kLabel, style);
  return out + unreadable_rows(adapter, style);
}

}  // namespace pvrdma::ctl
