// SPDX-License-Identifier: GPL-2.0-or-later
// The lines for each network manager's configuration.
#include "agent/plan/findings.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

const Netdev kEns10 = *ready_adapter(0).netdev.get();

LinkOwner owned(LinkManager manager, std::string file) { return {manager, true, std::move(file)}; }

}  // namespace

TEST_CASE("advice: the MTU and the address of a manager's link") {
  CHECK(advice::set_mtu(owned(LinkManager::Networkd, "/etc/r.network"), kEns10, 9000) ==
        "In /etc/r.network write `[Link] MTUBytes=9000`, then `networkctl reload` and "
        "`networkctl reconfigure ens10`. Do that when no job uses the adapter.");
  CHECK(advice::set_address(owned(LinkManager::Networkd, "/run/10-netplan-ens10.network"), kEns10,
                            "192.168.30.201/24") ==
        "In netplan's YAML give ens10 the line `addresses: [192.168.30.201/24]`, then `netplan "
        "apply`. Do that when no job uses the adapter.");
  CHECK(advice::set_mtu(owned(LinkManager::Ifupdown, "/etc/network/interfaces"), kEns10, 9000) ==
        "In /etc/network/interfaces add `mtu 9000` to the stanza of ens10, then `ifdown ens10 "
        "&& ifup ens10`. Do that when no job uses the adapter.");
}

TEST_CASE("advice: NetworkManager's profile, also one that takes no address or is not active") {
  CHECK(advice::set_address(owned(LinkManager::NetworkManager, "/etc/r.nmconnection"), kEns10,
                            "192.168.30.201/24") ==
        "`nmcli connection modify \"$(nmcli -g GENERAL.CONNECTION device show ens10)\" "
        "ipv4.method manual +ipv4.addresses 192.168.30.201/24`, then `nmcli device reapply "
        "ens10`. Do that when no job uses the adapter. Leave the method out where the link has "
        "other addresses by DHCP or router advertisements.");
  const LinkOwner inactive = owned(LinkManager::NetworkManager, "");
  CHECK(has_part(advice::set_address(inactive, kEns10, "fd00::1/64"),
                 " ipv6.method manual +ipv6.addresses fd00::1/64`"));
  for (const std::string& said : {advice::set_mtu(inactive, kEns10, 9000),
                                  advice::set_address(inactive, kEns10, "192.168.30.201/24")})
    CHECK(
        said.starts_with("Where the link has no active connection, first `nmcli --wait 0 device "
                         "connect ens10`. `nmcli connection modify"));
}

TEST_CASE("advice: how a manager lets go of a link, which may take the link down") {
  const std::string when_free = " Do that when no job uses the adapter.";
  std::string said = advice::leave_link_to_us(owned(LinkManager::Networkd, "/etc/r"), kEns10);
  CHECK(has_part(said, "MACAddress=00:50:56:00:00:10"));
  CHECK(said.ends_with(when_free));
  said = advice::leave_link_to_us(owned(LinkManager::NetworkManager, ""), kEns10);
  CHECK(has_part(said, "unmanaged-devices+=mac:00:50:56:00:00:10"));
  CHECK(said.ends_with(when_free));
  CHECK(advice::leave_link_to_us({LinkManager::Master, true, "", "bond0"}, kEns10)
            .ends_with(when_free));
  CHECK(advice::leave_link_to_us(owned(LinkManager::Ifupdown, "/etc/network/interfaces"), kEns10) ==
        "Remove the stanza of ens10 from /etc/network/interfaces.");
}
