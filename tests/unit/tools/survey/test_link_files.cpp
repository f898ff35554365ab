// SPDX-License-Identifier: GPL-2.0-or-later
// The owner of a link by the files of network managers, on made-up roots.
#include "agent/tools/survey/link_files.hpp"

#include <unistd.h>

#include "tests/unit/catch.hpp"
#include "tests/unit/tools/survey/link_names.hpp"
#include "tests/unit/tree.hpp"

namespace pvrdma::probes {

namespace {

using test::kByMac;
using test::kLink;

struct LinkFilesFixture {
  test::Tree tree;
  void enable(const std::string& service) const {
    tree.file("/usr/lib/systemd/system/" + service, "[Unit]\n");
    tree.link("/etc/systemd/system/multi-user.target.wants/" + service,
              "/usr/lib/systemd/system/" + service);
  }
  void have_ifcfg_plugin() const {
    tree.file("/usr/lib64/NetworkManager/1.54.3-2.el9/libnm-settings-plugin-ifcfg-rh.so", "");
  }
  [[nodiscard]] Field<LinkOwner> owner(const LinkNames& link = kLink) const {
    return look_at_link_files(tree.root(), link).owner;
  }
};

}  // namespace

TEST_CASE_METHOD(LinkFilesFixture, "link files: none") {
  CHECK(owner().is_absent());
  tree.file("/etc/systemd/network/x.network", "[Match]\nName=ens224f0\n");
  tree.file("/etc/NetworkManager/system-connections/x", "[connection]\ntype=ethernet\n");
  CHECK(owner().is_absent());  // no network manager starts
}

TEST_CASE_METHOD(LinkFilesFixture, "link files: networkd takes the first file that matches") {
  enable("systemd-networkd.service");
  CHECK(owner().is_absent());
  tree.file("/etc/systemd/network/20-x.network", "[Match]\nName=en*\n");
  CHECK(owner().is({LinkManager::Networkd, true, "/etc/systemd/network/20-x.network"}));
  tree.file("/usr/lib/systemd/network/10-x.network",
            "[Match]\nName=ens224f0\n[Link]\nUnmanaged=yes\n");
  CHECK(owner().is_absent());
  tree.link("/etc/systemd/network/10-x.network", "/dev/null");
  CHECK(owner().is_known());
  tree.file("/run/systemd/network/05-x.network", "[Match]\nName=ens224f0\n[Link]\nUnmanaged=yes\n");
  CHECK(owner().is_known());
}

TEST_CASE_METHOD(LinkFilesFixture,
                 "link files: networkd leaves a link alone by any of systemd's words for true") {
  enable("systemd-networkd.service");
  const auto lets_go = [&](const std::string& word) {
    tree.file("/etc/systemd/network/x.network",
              "[Match]\nName=ens224f0\n[Link]\nUnmanaged=" + word + "\n");
    return owner().is_absent();
  };
  for (const char* yes : {"yes", "true", "1", "on", "y", "t", "Yes", "TRUE", "On"})
    CHECK(lets_go(yes));
  for (const char* no : {"no", "false", "0", "off", "n", "f", "No", "", "2", "yes."})
    CHECK_FALSE(lets_go(no));
}

TEST_CASE_METHOD(LinkFilesFixture, "link files: networkd's files have drop-ins") {
  enable("systemd-networkd.service");
  const std::string file = "/usr/lib/systemd/network/10-x.network";
  tree.file(file, "[Match]\nName=ens224f0\n");
  CHECK(owner().is({LinkManager::Networkd, true, file}));
  const std::string drop_in = "/10-x.network.d/a.conf";
  tree.file("/etc/systemd/network" + drop_in, "[Link]\nUnmanaged=yes\n");
  CHECK(owner().is_absent());
  // A later drop-in outranks it, and one of the same name in an earlier folder hides it.
  tree.file("/lib/systemd/network/10-x.network.d/b.conf", "[Link]\nUnmanaged=no\n");
  CHECK(owner().is_known());
  tree.remove("/lib/systemd/network/10-x.network.d/b.conf");
  tree.remove("/etc/systemd/network" + drop_in);
  tree.file("/usr/local/lib/systemd/network" + drop_in, "[Match]\nName=\nName=ens192\n");
  tree.file("/usr/lib/systemd/network" + drop_in, "[Link]\nUnmanaged=yes\n");
  CHECK(owner().is_absent());
  tree.file("/usr/local/lib/systemd/network" + drop_in, "[Match]\nName=ens192\n");
  CHECK(owner().is({LinkManager::Networkd, true, file}));
  tree.unreadable("/etc/systemd/network/10-x.network.d/0.conf");
  tree.file(file, "[Match]\nName=ens193\n");
  CHECK(owner().is_unreadable());
}

TEST_CASE_METHOD(LinkFilesFixture, "link files: NetworkManager may take a link without a profile") {
  enable("NetworkManager.service");
  CHECK(owner().is({LinkManager::NetworkManager, false, ""}));
  const std::string profile = "/etc/NetworkManager/system-connections/x.nmconnection";
  tree.private_file(profile, "[connection]\ntype=ethernet\ninterface-name=ens224f0\n");
  CHECK(owner().is({LinkManager::NetworkManager, true, profile}));
  tree.remove(profile);
  tree.file("/etc/sysconfig/network-scripts/ifcfg-ens224f0", "DEVICE=ens224f0\nONBOOT=yes\n");
  // As on Enterprise Linux 10: nothing reads the file.
  CHECK(owner().is({LinkManager::NetworkManager, false, ""}));
  have_ifcfg_plugin();
  CHECK(owner().is(
      {LinkManager::NetworkManager, true, "/etc/sysconfig/network-scripts/ifcfg-ens224f0"}));
}

TEST_CASE_METHOD(LinkFilesFixture, "link files: the profile that NetworkManager prefers") {
  enable("NetworkManager.service");
  const std::string folder = "/etc/NetworkManager/system-connections/";
  const std::string start = "[connection]\ntype=ethernet\n";
  tree.private_file(folder + "a", start + "interface-name=ens224f0\n");
  tree.private_file(folder + "b",
                    start + "autoconnect-priority=1\n[ethernet]\nmac-address=" + kLink.mac);
  CHECK(owner().is({LinkManager::NetworkManager, true, folder + "b"}));
  CHECK(look_at_link_files(tree.root(), kLink).profiles ==
        std::vector<LinkProfile>{{folder + "b", 1, std::nullopt}, {folder + "a", 0, std::nullopt}});
  CHECK(look_at_link_files(tree.root(), kLink).macs ==
        std::vector<MacFile>{{folder + "b", {kLink.mac}}});
}

TEST_CASE_METHOD(LinkFilesFixture, "link files: the order of ifcfg files with quoted values") {
  enable("NetworkManager.service");
  have_ifcfg_plugin();
  const std::string folder = "/etc/sysconfig/network-scripts/ifcfg-";
  const std::string start = "DEVICE=\"ens224f0\"\n";
  tree.file(folder + "a", start + "UUID=\"0000000a\"\n");
  tree.file(folder + "b", start + "UUID='0000000b'\n");
  tree.file(folder + "c", start + "UUID=0000000c\nAUTOCONNECT_PRIORITY=\"1\"\n");
  tree.file("/var/lib/NetworkManager/timestamps", "[timestamps]\n0000000a=5\n0000000b=7\n");
  CHECK(look_at_link_files(tree.root(), kLink).profiles ==
        std::vector<LinkProfile>{{folder + "c", 1, 0}, {folder + "b", 0, 7}, {folder + "a", 0, 5}});
  // NetworkManager has a time for the profile without a UUID as well, which is not known here.
  tree.file(folder + "d", start);
  CHECK(look_at_link_files(tree.root(), kLink).profiles ==
        std::vector<LinkProfile>{{folder + "c", 1, 0},
                                 {folder + "d", 0, std::nullopt},
                                 {folder + "b", 0, 7},
                                 {folder + "a", 0, 5}});
}

TEST_CASE_METHOD(LinkFilesFixture, "link files: a keyfile that others may read is refused") {
  enable("NetworkManager.service");
  const std::string file = "/etc/NetworkManager/system-connections/x.nmconnection";
  const std::string text = "[connection]\ntype=ethernet\ninterface-name=ens224f0\n";
  const auto refused = [&] { return look_at_link_files(tree.root(), kLink).refused; };
  tree.private_file(file, text);
  CHECK(refused().empty());
  std::filesystem::permissions(tree / file, std::filesystem::perms{0640});
  CHECK(refused() == std::vector<std::string>{file});
  CHECK(owner().is({LinkManager::NetworkManager, false, ""}));
  std::filesystem::permissions(tree / file, std::filesystem::perms{0600});
  REQUIRE(::chown((tree / file).c_str(), 1000, 0) == 0);
  CHECK(refused() == std::vector<std::string>{file});
  tree.file(file + ".other", "[connection]\ntype=ethernet\ninterface-name=ens192\n");
  CHECK(refused() == std::vector<std::string>{file});
}

TEST_CASE_METHOD(LinkFilesFixture, "link files: copies of a profile are no rivals") {
  enable("NetworkManager.service");
  have_ifcfg_plugin();
  const std::string start = "[connection]\ntype=ethernet\n";
  const std::string keyfile = "/etc/NetworkManager/system-connections/a.nmconnection";
  const std::string named = start + "uuid=1\ninterface-name=ens224f0\n[ethernet]\nmac-address=";
  tree.private_file(keyfile, named + kLink.mac);
  tree.private_file(keyfile + ".bak", named + "00:50:56:00:00:01");
  tree.private_file(keyfile + "~", start + "[ethernet]\nmac-address=00:50:56:00:00:01");
  const std::string ifcfg = "/etc/sysconfig/network-scripts/ifcfg-b";
  tree.file(ifcfg, "HWADDR=" + kLink.mac);
  for (const char* end : {".bak", "~", ".orig", ".rej", ".rpmnew", ".augnew", ".augtmp", ".BAK"})
    tree.file(ifcfg + end, "DEVICE=ens224f0\nHWADDR=00:50:56:00:00:01\n");
  const LinkFiles files = look_at_link_files(tree.root(), kLink);
  CHECK(files.profiles == std::vector<LinkProfile>{{ifcfg, 0, std::nullopt}, {keyfile, 0, 0}});
  CHECK(files.macs == std::vector<MacFile>{{keyfile, {kLink.mac}}, {ifcfg, {kLink.mac}}});
}

TEST_CASE_METHOD(LinkFilesFixture, "link files: a folder among profiles is no profile") {
  enable("NetworkManager.service");
  const std::string folder = "/etc/NetworkManager/system-connections/";
  tree.directory(folder + "old");
  CHECK(owner().is({LinkManager::NetworkManager, false, ""}));
  tree.link(folder + "x", "../x");
  tree.private_file("/etc/NetworkManager/x",
                    "[connection]\ntype=ethernet\ninterface-name=ens224f0\n");
  CHECK(owner().is({LinkManager::NetworkManager, true, folder + "x"}));
}

TEST_CASE_METHOD(LinkFilesFixture, "link files: unreadable profiles are reported") {
  enable("NetworkManager.service");
  tree.unreadable("/etc/NetworkManager/system-connections/x.nmconnection");
  CHECK(owner().is_unreadable());
  // A manager that certainly has the link decides.
  tree.file("/etc/netplan/x.yaml", "network:\n  ethernets:\n    ens224f0: {}\n");
  CHECK(owner().is({LinkManager::Networkd, true, "/etc/netplan/x.yaml"}));
}

TEST_CASE_METHOD(LinkFilesFixture, "link files: netplan starts its renderer by itself") {
  tree.file("/etc/netplan/50-x.yaml",
            "network:\n  renderer: NetworkManager\n  ethernets:\n    ens224f0:\n");
  CHECK(owner().is({LinkManager::NetworkManager, true, "/etc/netplan/50-x.yaml"}));
  // A file's own renderer outranks the one that another file names for all, as Ubuntu's desktop
  // has it.
  tree.file("/etc/netplan/50-x.yaml", "network:\n  ethernets:\n    ens224f0: {}\n");
  CHECK(owner().is({LinkManager::Networkd, true, "/etc/netplan/50-x.yaml"}));
  tree.file("/etc/netplan/60-all.yaml", "network:\n  version: 2\n  renderer: NetworkManager\n");
  CHECK(owner().is({LinkManager::NetworkManager, true, "/etc/netplan/50-x.yaml"}));
  tree.file("/etc/netplan/50-x.yaml",
            "network:\n  ethernets:\n    ens224f0: {renderer: networkd}\n");
  CHECK(owner().is({LinkManager::Networkd, true, "/etc/netplan/50-x.yaml"}));
}

TEST_CASE_METHOD(LinkFilesFixture, "link files: ifupdown") {
  tree.file("/sbin/ifup", "");
  tree.file("/etc/network/interfaces", "auto ens224f0\niface ens224f0 inet dhcp\n");
  const LinkOwner ifupdown{LinkManager::Ifupdown, true, "/etc/network/interfaces"};
  CHECK(owner().is(ifupdown));
  CHECK(owner(kByMac).is_absent());
  // A stanza alone starts nothing.
  tree.file(ifupdown.file, "iface ens224f0 inet dhcp\nsource more\n");
  CHECK(owner().is({LinkManager::Ifupdown, false, ifupdown.file}));
  for (const char* line : {"allow-hotplug ens224f0", "auto lo ens224f0=home", "auto /ens*"}) {
    tree.file("/etc/network/more", std::string{line} + "\n");
    CHECK(owner().is(ifupdown));
  }
}

}  // namespace pvrdma::probes
