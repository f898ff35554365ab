// SPDX-License-Identifier: GPL-2.0-or-later
// The owner of a link: the files of networkd and ifupdown, and the meaning of NetworkManager's
// answers.
#include "probes/link_owner.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tree.hpp"

namespace pvrdma::probes {

namespace {

constexpr const char* kNetworkdState = "/run/systemd/netif/links/3";

LinkOwner owned(LinkManager manager, const std::string& file) { return {manager, true, file}; }
LinkOwner undecided(LinkManager manager) { return {manager, false, {}}; }

struct LinkOwnerFixture {
  test::Tree tree;

  void run(const std::string& service) const {
    tree.link("/run/systemd/units/invocation:" + service, "0123456789abcdef");
  }
  void enable(const std::string& service) const {
    tree.link("/etc/systemd/system/multi-user.target.wants/" + service,
              "/lib/systemd/system/" + service);
    tree.file("/lib/systemd/system/" + service, "");
  }
  Field<LinkOwner> owner() const {
    SystemBus bus{tree.root()};
    return link_owner(tree.root(), "ens16f0", 3, bus);
  }
};

}  // namespace

TEST_CASE_METHOD(LinkOwnerFixture, "link owner: none") {
  CHECK(owner().is_absent());
  // A state file without a running networkd is an old one.
  tree.file(kNetworkdState, "ADMIN_STATE=configured\n");
  CHECK(owner().is_absent());
}

TEST_CASE_METHOD(LinkOwnerFixture, "link owner: systemd-networkd by the state it keeps") {
  run("systemd-networkd.service");
  CHECK(owner().is(undecided(LinkManager::Networkd)));
  tree.file(kNetworkdState,
            "# This is private data. Do not parse.\nADMIN_STATE=configured\nOPER_STATE=routable\n"
            "NETWORK_FILE=/run/systemd/network/10-netplan-ens16f0.network\n");
  CHECK(
      owner().is(owned(LinkManager::Networkd, "/run/systemd/network/10-netplan-ens16f0.network")));
  for (const char* state : {"configuring", "failed", "linger"})
    CHECK(parse_networkd_link(std::string{"ADMIN_STATE="} + state)
              .is(owned(LinkManager::Networkd, "")));
  for (const char* state : {"pending", "initialized", ""})
    CHECK(parse_networkd_link(std::string{"ADMIN_STATE="} + state + "\nX=")
              .is(undecided(LinkManager::Networkd)));
  CHECK(parse_networkd_link("").is(undecided(LinkManager::Networkd)));
  tree.file(kNetworkdState, "ADMIN_STATE=unmanaged\nOPER_STATE=carrier\n");
  CHECK(owner().is_absent());
}

TEST_CASE_METHOD(LinkOwnerFixture, "link owner: a manager that has not started yet may take it") {
  enable("NetworkManager.service");
  CHECK(owner().is(undecided(LinkManager::NetworkManager)));
  enable("systemd-networkd.service");
  CHECK(owner().is(undecided(LinkManager::Networkd)));
}

TEST_CASE_METHOD(LinkOwnerFixture, "link owner: an unreadable file does not count as no owner") {
  run("systemd-networkd.service");
  tree.unreadable(kNetworkdState);
  CHECK(owner().is_unreadable());
  tree.remove("/run/systemd");
  CHECK(owner().is_absent());
  tree.unreadable("/sbin");
  CHECK(ifupdown_owner(tree.root(), "ens16f0").is_unreadable());
}

TEST_CASE("link owner: NetworkManager's answers") {
  CHECK(owner_from({false, 10, 0, true, false, false, {}}).is_absent());
  CHECK(owner_from({true, 100, 0, true, true, false, "/etc/NetworkManager/system-connections/p"})
            .is(owned(LinkManager::NetworkManager, "/etc/NetworkManager/system-connections/p")));
  CHECK(
      owner_from({true, 50, 0, true, true, false, {}}).is(owned(LinkManager::NetworkManager, "")));
  CHECK(owner_from({true, 120, 0, true, false, false, {}})
            .is(owned(LinkManager::NetworkManager, "")));
  // NetworkManager only shows this link; another program has configured it.
  CHECK(owner_from({true, 100, 0, true, true, true, {}}).is_absent());
  for (const unsigned state : {20U, 30U})
    CHECK(owner_from({true, state, 0, true, false, false, {}})
              .is(undecided(LinkManager::NetworkManager)));
}

TEST_CASE("link owner: a link that NetworkManager took down belongs to it") {
  // `nmcli networking off`, or suspended.
  CHECK(owner_from({false, 10, 37, false, false, false, {}})
            .is(owned(LinkManager::NetworkManager, "")));
  CHECK(owner_from({false, 10, 37, true, false, false, {}})
            .is(owned(LinkManager::NetworkManager, "")));
  // After a restart with networking off, NetworkManager does not say whether it would take the
  // link.
  CHECK(owner_from({false, 10, 0, false, false, false, {}})
            .is(undecided(LinkManager::NetworkManager)));
  // `nmcli device disconnect`
  CHECK(owner_from({true, 30, 39, true, false, false, {}})
            .is(owned(LinkManager::NetworkManager, "")));
  // The link has lost its carrier, and had a profile before.
  CHECK(owner_from({true, 20, 40, true, false, false, {}})
            .is(owned(LinkManager::NetworkManager, "")));
  // `nmcli device set managed no`
  CHECK(owner_from({false, 10, 36, true, false, false, {}}).is_absent());
}

TEST_CASE_METHOD(LinkOwnerFixture, "link owner: the master comes before every manager") {
  tree.link("/sys/class/net/ens16f0/master", "../../../virtual/net/bond0");
  run("systemd-networkd.service");
  tree.file(kNetworkdState, "ADMIN_STATE=configured\n");
  CHECK(owner().is(LinkOwner{LinkManager::Master, true, {}, "bond0"}));
  tree.remove("/sys/class/net/ens16f0/master");
  CHECK(owner().is(owned(LinkManager::Networkd, "")));
  tree.remove("/sys/class/net");
  tree.unreadable("/sys/class/net");
  SystemBus bus{tree.root()};
  CHECK(link_owner(tree.root(), "ens17f0", 4, bus).is_unreadable());
}

TEST_CASE_METHOD(LinkOwnerFixture, "link owner: a VRF leaves the link to its manager") {
  tree.link("/sys/class/net/ens16f0/master", "../../../virtual/net/vrf0");
  tree.file("/sys/class/net/vrf0/flags", "0x4c1\n");
  CHECK(owner().is_absent());
  run("systemd-networkd.service");
  tree.file(kNetworkdState, "ADMIN_STATE=configured\n");
  CHECK(owner().is(owned(LinkManager::Networkd, "")));
  // The flags of a bond, and those of a bridge, then none that can be read.
  for (const char* flags : {"0x1443\n", "0x1003\n", "", "4c1\n"}) {
    tree.file("/sys/class/net/vrf0/flags", flags);
    CHECK(owner().is(LinkOwner{LinkManager::Master, true, {}, "vrf0"}));
  }
}

TEST_CASE_METHOD(LinkOwnerFixture, "link owner: networkd that only netplan enables") {
  const std::string unit = "/usr/lib/systemd/system/systemd-networkd.service";
  tree.file(unit, "");
  SECTION("before 1.2") {
    tree.link("/run/systemd/generator/multi-user.target.wants/systemd-networkd.service", unit);
  }
  SECTION("since 1.2") {
    tree.link("/run/systemd/generator.late/multi-user.target.wants/systemd-networkd.service", unit);
  }
  SECTION("by the distribution") {
    tree.link("/usr/lib/systemd/system/multi-user.target.wants/systemd-networkd.service", unit);
  }
  CHECK(owner().is(undecided(LinkManager::Networkd)));
}

TEST_CASE_METHOD(LinkOwnerFixture,
                 "link owner: no manager is waited for that is masked, or was removed") {
  for (const char* service : {"NetworkManager.service", "systemd-networkd.service"}) {
    CAPTURE(service);
    enable(service);
    CHECK(owner().is_known());
    for (const char* folder :
         {"/etc/systemd/system/", "/run/systemd/system/", "/run/systemd/generator.early/"}) {
      tree.link(std::string{folder} + service, "/dev/null");
      CHECK(owner().is_absent());
      tree.remove(std::string{folder} + service);
    }
    tree.remove(std::string{"/lib/systemd/system/"} + service);
    CHECK(owner().is_absent());
  }
}

TEST_CASE_METHOD(LinkOwnerFixture, "link owner: a part of ifupdown's bond or bridge") {
  tree.program("/sbin/ifup", "");
  const auto with = [&](const std::string& line) {
    tree.file("/etc/network/interfaces", "auto bond0\niface bond0 inet static\n  " + line + "\n");
    return owner().is(owned(LinkManager::Ifupdown, "/etc/network/interfaces"));
  };
  for (const char* line :
       {"bond-slaves ens17f0 ens16f0", "bond_slaves ens16f0", "slaves ens16f0 ens17f0",
        "bridge_ports ens16f0", "bridge-ports eth0 ens16f0", "bridge_ports all",
        "bridge_ports regex ens1[67]f0", "bridge_ports eth0 regex ens.*"})
    CHECK(with(line));
  for (const char* line : {"bond-slaves none", "bond-slaves ens17f0", "bond-primary ens16f0",
                           "bridge_ports regex ens16", "bridge_ports regex (", "bond-slaves"})
    CHECK_FALSE(with(line));
}

TEST_CASE_METHOD(LinkOwnerFixture, "link owner: ifupdown's configuration of another name") {
  tree.program("/sbin/ifup", "");
  tree.file("/etc/network/interfaces.d/rdma", "iface rdma inet static\n  mtu 1500\n");
  const auto with = [&](const std::string& line) {
    tree.file("/etc/network/interfaces", "source interfaces.d/*\nauto " + line + "\n");
    return owner().is(owned(LinkManager::Ifupdown, "/etc/network/interfaces.d/rdma"));
  };
  for (const char* line : {"ens16f0=rdma", "lo ens16f0=rdma", "/ens*=rdma", "/ens16f?/=rdma"})
    CHECK(with(line));
  for (const char* line : {"ens16f0", "ens16f0=other", "ens17f0=rdma", "/eth*/=rdma", "rdma"})
    CHECK_FALSE(with(line));
}

TEST_CASE_METHOD(LinkOwnerFixture, "link owner: ifupdown reads nothing from a folder") {
  tree.program("/sbin/ifup", "");
  tree.file("/etc/network/interfaces", "source interfaces.d/*\n");
  tree.directory("/etc/network/interfaces.d/old");
  CHECK(owner().is_absent());
  tree.file("/etc/network/interfaces.d/rdma", "iface ens16f0 inet static\n");
  CHECK(owner().is(owned(LinkManager::Ifupdown, "/etc/network/interfaces.d/rdma")));
  tree.file("/etc/network/interfaces", "source interfaces.d\n");
  CHECK(owner().is_absent());
}

TEST_CASE("link owner: stanzas of interfaces(5)") {
  const InterfacesFile file = parse_interfaces(
      "# iface ens15 inet dhcp\nauto lo ens16f0\niface lo inet loopback\n"
      "iface \\\n  ens16f0 inet static\n  address 192.168.30.201/24\n"
      "source /etc/network/interfaces.d/*\nsource-directory more\niface\n");
  CHECK(file.interfaces == std::vector<std::string>{"lo", "ens16f0"});
  CHECK(file.started == std::vector<std::string>{"lo", "ens16f0"});
  CHECK(file.sources == std::vector<std::string>{"/etc/network/interfaces.d/*"});
  CHECK(file.folders == std::vector<std::string>{"more"});
  CHECK(parse_interfaces("iface ens\\\n16f0\\\n").interfaces ==
        std::vector<std::string>{"ens16f0"});
}

TEST_CASE_METHOD(LinkOwnerFixture, "link owner: ifupdown, also by its sources") {
  tree.file("/etc/network/interfaces", "source interfaces.d/*\nsource /etc/network/interfaces\n");
  tree.file("/etc/network/interfaces.d/rdma", "iface ens16f0 inet static\n");
  CHECK(owner().is_absent());  // no program reads the files
  tree.program("/sbin/ifup", "");
  CHECK(owner().is(owned(LinkManager::Ifupdown, "/etc/network/interfaces.d/rdma")));
  // An owner that has the link comes before one that may take it.
  enable("systemd-networkd.service");
  CHECK(owner().is(owned(LinkManager::Ifupdown, "/etc/network/interfaces.d/rdma")));
  run("systemd-networkd.service");
  tree.file(kNetworkdState, "ADMIN_STATE=configured\nNETWORK_FILE=/x.network\n");
  CHECK(owner().is(owned(LinkManager::Networkd, "/x.network")));
}

TEST_CASE_METHOD(LinkOwnerFixture, "link owner: ifupdown's source-directory, by its files' names") {
  tree.program("/sbin/ifup", "");
  const std::string folder = "/etc/network/interfaces.d/";
  const auto starts = [&] { return ifupdown_starts(tree.root(), "ens16f0").value_or(false); };
  tree.file("/etc/network/interfaces", "source-directory interfaces.d\n");
  for (const char* name : {"ens16f0.bak", "ens16f0~", "ens16f0.dpkg-old", "10 ens16f0"}) {
    tree.file(folder + name, "auto ens16f0\niface ens16f0 inet dhcp\n");
    CHECK(owner().is_absent());
    CHECK_FALSE(starts());
  }
  tree.file("/etc/network/interfaces", "source interfaces.d/*.bak\n");
  CHECK(owner().is(owned(LinkManager::Ifupdown, folder + "ens16f0.bak")));
  tree.file("/etc/network/interfaces", "source-directory /etc/network/interfaces.*\n");
  tree.file(folder + "10-ens16f0_a", "auto ens16f0\niface ens16f0 inet dhcp\n");
  CHECK(owner().is(owned(LinkManager::Ifupdown, folder + "10-ens16f0_a")));
  CHECK(starts());
}

}  // namespace pvrdma::probes
