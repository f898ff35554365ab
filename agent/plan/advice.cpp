// SPDX-License-Identifier: GPL-2.0-or-later
// The lines of each network manager (advice, findings.hpp).
#include "agent/base/text.hpp"
#include "agent/model/identifiers.hpp"
#include "agent/plan/findings.hpp"

namespace pvrdma::advice {

namespace {

// One setting, in the format of each network manager.
struct Setting {
  std::string networkd;        // with its section name
  std::string netplan;         // a line below the interface
  std::string networkmanager;  // a property of nmcli(1) and its value
  std::string ifupdown;        // a line below the iface line
};

// The manager configures the whole link again, or lets go of it: both may take it down.
constexpr const char* kWhenFree = " Do that when no job uses the adapter.";

bool is_netplan(const LinkOwner& owner) { return has_part(owner.file, "netplan-"); }

std::string in_file(const LinkOwner& owner) {
  return owner.file.empty() ? "In its configuration" : "In " + owner.file;
}

std::string line_of(const LinkOwner& owner, const Netdev& netdev, const Setting& setting) {
  if (is_netplan(owner))
    return "In netplan's YAML give " + netdev.name + " the line `" + setting.netplan +
           "`, then `netplan apply`.";
  switch (owner.manager) {
    case LinkManager::Networkd:
      return in_file(owner) + " write `" + setting.networkd +
             "`, then `networkctl reload` and `networkctl reconfigure " + netdev.name + "`.";
    case LinkManager::NetworkManager:
      // A profile may be a keyfile, an ifcfg file, or in memory only; nmcli changes each for good.
      // A link without an active connection has no file, and nmcli names no connection for it.
      return (owner.file.empty() ? "Where the link has no active connection, first `nmcli --wait 0 "
                                   "device connect " +
                                       netdev.name + "`. "
                                 : std::string{}) +
             "`nmcli connection modify \"$(nmcli -g GENERAL.CONNECTION device show " + netdev.name +
             ")\" " + setting.networkmanager + "`, then `nmcli device reapply " + netdev.name +
             "`.";
    case LinkManager::Master:
      return "Set it on " + owner.master + ", which " + netdev.name + " is a part of.";
    case LinkManager::Ifupdown:
      break;
  }
  return in_file(owner) + " add `" + setting.ifupdown + "` to the stanza of " + netdev.name +
         ", then `ifdown " + netdev.name + " && ifup " + netdev.name + "`.";
}

std::string advise(const LinkOwner& owner, const Netdev& netdev, const Setting& setting) {
  return line_of(owner, netdev, setting) + kWhenFree;
}

}  // namespace

std::string set_mtu(const LinkOwner& owner, const Netdev& netdev, unsigned mtu) {
  const std::string bytes = std::to_string(mtu);
  return advise(
      owner, netdev,
      {"[Link] MTUBytes=" + bytes, "mtu: " + bytes, "802-3-ethernet.mtu " + bytes, "mtu " + bytes});
}

std::string set_address(const LinkOwner& owner, const Netdev& netdev, const std::string& address) {
  // A profile with the method "disabled" takes no address. One with "auto", in a network without
  // DHCP, ends after 45 seconds, and its addresses go.
  const std::string family = is_ipv6(address) ? "ipv6" : "ipv4";
  std::string line = advise(
      owner, netdev,
      {"[Network] Address=" + address, "addresses: [" + address + "]",
       family + ".method manual +" + family + ".addresses " + address, "address " + address});
  if (owner.manager != LinkManager::NetworkManager || is_netplan(owner)) return line;
  line +=
      " Leave the method out where the link has other addresses by DHCP or router advertisements.";
  return line;
}

std::string leave_link_to_us(const LinkOwner& owner, const Netdev& netdev) {
  switch (owner.manager) {
    case LinkManager::Networkd:
      return "Write /etc/systemd/network/05-pvrdma-" + netdev.name +
             ".network with the four lines `[Match]`, `MACAddress=" + netdev.mac +
             "`, `[Link]`, `Unmanaged=yes`, then `networkctl reload`." + kWhenFree;
    case LinkManager::NetworkManager:
      return "Write /etc/NetworkManager/conf.d/90-pvrdma-" + netdev.name +
             ".conf with the two lines `[keyfile]`, `unmanaged-devices+=mac:" + netdev.mac +
             "`, then `systemctl reload NetworkManager`." + kWhenFree;
    case LinkManager::Master:
      return "Take " + netdev.name + " out of " + owner.master + " (`ip link set " + netdev.name +
             " nomaster`), and out of what configures that." + kWhenFree;
    case LinkManager::Ifupdown:
      break;
  }
  return "Remove the stanza of " + netdev.name + " from " + owner.file + ".";
}

}  // namespace pvrdma::advice
