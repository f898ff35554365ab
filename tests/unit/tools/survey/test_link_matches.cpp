// SPDX-License-Identifier: GPL-2.0-or-later
// Which links the files of network managers match.
#include "agent/tools/survey/link_files.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tools/survey/link_names.hpp"

namespace pvrdma::probes {

namespace {

using test::kByMac;
using test::kLink;

Match network_matches(const std::string& conditions, const LinkNames& link = kLink) {
  return match_network(parse_settings("[Match]\n" + conditions), link);
}
Match keyfile_matches(const std::string& text, const LinkNames& link = kLink) {
  return match_keyfile(parse_settings(text), link);
}
Match ifcfg_matches(const std::string& text, const LinkNames& link = kLink) {
  return match_ifcfg(parse_settings(text), link);
}
Match netplan_matches(const std::string& text, const LinkNames& link = kLink) {
  return match_netplan(text, link).match;
}

}  // namespace

TEST_CASE("a .network file matches by all of its conditions") {
  CHECK(network_matches("Name=eth0 ens*\n") == Match::Yes);
  CHECK(network_matches("Name=eth*\n") == Match::No);
  CHECK(network_matches("Name=!eth* lo\n") == Match::Yes);
  CHECK(network_matches("Name=!ens*\n") == Match::No);
  CHECK(network_matches("MACAddress=00-50-56-8A-9F-C2 02:00:00:00:00:01\n") == Match::Yes);
  CHECK(network_matches("PermanentMACAddress=02:00:00:00:00:01\n") == Match::No);
  CHECK(network_matches("Type=ether\nKind=!*\n") == Match::Yes);
  CHECK(network_matches("Kind=veth\nName=*\n") == Match::No);
  CHECK(network_matches("Type=wlan\n") == Match::No);
  CHECK(network_matches("Driver=vmxnet3\n") == Match::Yes);
  CHECK(network_matches("Name=ens*\nMACAddress=02:00:00:00:00:01\n") == Match::No);
  // A condition that is not evaluated leaves the match open, unless another condition fails.
  CHECK(network_matches("Path=pci-0000:13:00.0\n") == Match::Maybe);
  CHECK(network_matches("Name=eth0\nHost=x\n") == Match::No);
  CHECK(network_matches("Name=ens*\n", kByMac) == Match::Maybe);
  CHECK(network_matches("") == Match::No);
}

TEST_CASE("lines of [Match] with one key are one list, as systemd reads them") {
  CHECK(network_matches("Name=ens192\nName=ens224f0\n") == Match::Yes);
  CHECK(network_matches("Name=ens224f0\nName=ens192\n") == Match::Yes);
  CHECK(network_matches("Name=ens192\nName=ens193\n") == Match::No);
  CHECK(network_matches("MACAddress=02:00:00:00:00:01\nMACAddress=00:50:56:8a:9f:c2\n") ==
        Match::Yes);
  // A negated word that fits excludes the link, wherever it stands.
  CHECK(network_matches("Name=!eth*\nName=!ens*\n") == Match::No);
  CHECK(network_matches("Name=ens*\nName=!ens224f0\n") == Match::No);
  CHECK(network_matches("Name=!eth0\nName=en*\n") == Match::Yes);
  CHECK(network_matches("Name=!eth0\nName=eth*\n") == Match::No);
  CHECK(network_matches("Name=!lo eth*\nName=!br*\n") == Match::Yes);
  CHECK(network_matches("Kind=!bond\nKind=!veth\nName=*\n") == Match::Yes);
  CHECK(network_matches("Kind=!bond\nKind=veth\nName=*\n") == Match::No);
  // An empty value clears the list.
  CHECK(network_matches("Name=ens224f0\nName=\nName=ens192\n") == Match::No);
  CHECK(network_matches("Name=ens192\nName=\nDriver=vmxnet3\n") == Match::Yes);
  CHECK(network_matches("Name=ens224f0\nName=\n") == Match::No);
}

TEST_CASE("a keyfile matches by interface and MAC") {
  const std::string start = "[connection]\nid=x\ntype=ethernet\n";
  CHECK(keyfile_matches(start + "interface-name=ens224f0\n") == Match::Yes);
  CHECK(keyfile_matches(start + "interface-name=ens192\n") == Match::No);
  CHECK(keyfile_matches(start) == Match::Yes);
  CHECK(keyfile_matches(start + "[ethernet]\nmac-address=00:50:56:8A:9F:C2\n") == Match::Yes);
  CHECK(keyfile_matches(start + "[ethernet]\nmac-address=00:50:56:8A:9F:C3\n") == Match::No);
  CHECK(keyfile_matches(start + "autoconnect=false\n") == Match::No);
  CHECK(keyfile_matches(start + "[match]\ninterface-name=ens*\n") == Match::Maybe);
  CHECK(keyfile_matches("[connection]\ntype=wifi\n") == Match::No);
  CHECK(keyfile_matches(start + "interface-name=ens224f0\n", kByMac) == Match::Maybe);
}

TEST_CASE("an ifcfg file matches by DEVICE and HWADDR") {
  CHECK(ifcfg_matches("DEVICE=\"ens224f0\"\nONBOOT=yes\n") == Match::Yes);
  CHECK(ifcfg_matches("DEVICE=ens192\nONBOOT=yes\n") == Match::No);
  CHECK(ifcfg_matches("HWADDR=00:50:56:8A:9F:C2\n") == Match::Yes);
  CHECK(ifcfg_matches("DEVICE=ens224f0\nHWADDR=00:50:56:00:00:01\n") == Match::No);
  CHECK(ifcfg_matches("DEVICE=ens224f0\nONBOOT=no\n") == Match::No);
  // A value ends at a blank or a ";".
  CHECK(ifcfg_matches("DEVICE=\"ens224f0\"  # RDMA\n") == Match::Yes);
  CHECK(ifcfg_matches("DEVICE='ens224f0';\t# RDMA\nONBOOT=yes; # x\n") == Match::Yes);
  CHECK(ifcfg_matches("DEVICE=ens224f0\nONBOOT=no # x\n") == Match::No);
  CHECK(macs_of(parse_settings("HWADDR=\"00:50:56:8A:9F:C2\" # was 02:00:00:00:00:01\n")) ==
        std::vector<std::string>{kLink.mac});
  CHECK(ifcfg_matches("DEVICE=ens224f0\nNM_CONTROLLED=no\n") == Match::No);
  for (const char* no : {"NO", "False", "0", "n", "F"})
    CHECK(ifcfg_matches("DEVICE=ens224f0\nONBOOT=" + std::string{no} + "\n") == Match::No);
  // NetworkManager does not know the word "off" and takes the default.
  CHECK(ifcfg_matches("DEVICE=ens224f0\nONBOOT=off\n") == Match::Yes);
}

TEST_CASE("netplan names an interface by id, name, MAC or driver") {
  const std::string start = "network:\n  version: 2\n  ethernets:\n";
  CHECK(netplan_matches(start + "    ens224f0:\n      dhcp4: true\n") == Match::Yes);
  CHECK(netplan_matches(start + "    \"ens224f0\": {dhcp4: true}\n") == Match::Yes);
  CHECK(netplan_matches(start + "    ens192:\n      dhcp4: true\n") == Match::No);
  CHECK(netplan_matches(start + "    # ens224f0:\n    ens192: {}  # ens224f0:\n") == Match::No);
  CHECK(netplan_matches(start + "    rdma:\n      match:\n        macaddress: "
                                "\"00:50:56:8A:9F:C2\"\n") == Match::Yes);
  CHECK(netplan_matches(start + "    rdma:\n      match: {driver: vmxnet3}\n") == Match::Yes);
  // A list of drivers is not read, so it leaves the match open unless another key fails.
  const std::string mac = "macaddress: 02:00:00:00:00:01";
  CHECK(netplan_matches(start + "    rdma:\n      match:\n        driver: [ixgbe, vmxnet3]\n") ==
        Match::Maybe);
  CHECK(netplan_matches(start + "    rdma:\n      match: {driver: [\"vmxnet3\"], " + mac + "}\n") ==
        Match::No);
  const std::string block = "        driver:\n          - ixgbe\n          - vmxnet3\n";
  CHECK(netplan_matches(start + "    rdma:\n      match:\n" + block) == Match::Maybe);
  CHECK(netplan_matches(start + "    rdma:\n      match:\n" + block + "        " + mac + "\n") ==
        Match::No);
  CHECK(netplan_matches(start + "    rdma:\n      match: {name: \"en*\"}\n") == Match::Yes);
  CHECK(netplan_matches(start + "    rdma:\n      match: {name: \"eth*\"}\n") == Match::No);
  // An id is a name of netplan's own where a `match` stands below it, all of which must fit.
  const std::string other = "match: {macaddress: 02:00:00:00:00:01}";
  CHECK(netplan_matches(start + "    ens224f0:\n      mtu: 9000\n      " + other + "\n") ==
        Match::No);
  CHECK(netplan_matches(start + "    ens224f0: {mtu: 9000, " + other + "}\n") == Match::No);
  CHECK(netplan_matches(start + "    a:\n      " + other + "\n    ens224f0:\n      mtu: 9000\n") ==
        Match::Yes);
  CHECK(netplan_matches(start + "    ens224f0:\n      mtu: 9000\n    a:\n      " + other + "\n") ==
        Match::Yes);
  CHECK(netplan_matches(start +
                        "    a:\n      match:\n        driver: vmxnet3\n        name: eth*\n") ==
        Match::No);
  // An interface that `set-name` has renamed does not have the name of `match` any more.
  const std::string name = "      match: {name: ens192}\n";
  const std::string renamed = "      set-name: ens224f0\n";
  CHECK(netplan_matches(start + "    a:\n" + name + "      mtu: 9000\n" + renamed) == Match::Yes);
  CHECK(netplan_matches(start + "    a:\n" + renamed + name + "      mtu: 9000\n") == Match::Yes);
  CHECK(netplan_matches(start + "    a: {match: {name: ens192}, set-name: ens224f0}\n") ==
        Match::Yes);
  CHECK(netplan_matches(start + "    a:\n" + name + "    b:\n" + renamed) == Match::No);
  CHECK(netplan_matches(start + "    a:\n      " + other + "\n" + renamed) == Match::No);
  CHECK(match_netplan(start + "    a:\n      match: {macaddress: \"00-50-56-8A-9F-C2\"}\n", kLink)
            .macs == std::vector<std::string>{kLink.mac});
  CHECK_FALSE(match_netplan(start, kLink).renderer_of_all);
  CHECK(match_netplan("network: {renderer: NetworkManager}\n", kLink).renderer_of_all ==
        LinkManager::NetworkManager);
}

}  // namespace pvrdma::probes
