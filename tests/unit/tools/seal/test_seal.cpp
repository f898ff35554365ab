// SPDX-License-Identifier: GPL-2.0-or-later
// `seal` on made-up images.
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/tools/seal/command.hpp"
#include "agent/tools/seal/template.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/module_index.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using probes::Trace;
using probes::TraceKind;
using test::Tree;

namespace {

fake::Printed check(const Tree& image, bool json = false) {
  fake::Screen screen;
  const fake::Directory directory;
  Settings settings = fake::settings(directory / "socket");
  settings.json = json;
  const int code =
      seal(settings, screen.console, {(image.root() / "/").string(), places::module_lookup});
  return {code, screen.out(), screen.err()};
}

// The traces as "ID PATH:LINE", in order.
std::vector<std::string> found_in(const Tree& image) {
  std::vector<std::string> list;
  const Json answer = Json::parse(check(image, true).out);
  for (const Json& one : answer["findings"]) {
    std::string entry = one["id"].get<std::string>() + " " + one["path"].get<std::string>();
    if (!one["line"].is_null()) entry += ":" + std::to_string(one["line"].get<int>());
    CHECK(!one["remedy"].get<std::string>().empty());
    list.push_back(entry);
  }
  return list;
}

using List = std::vector<std::string>;

}  // namespace

TEST_CASE("an image without traces of one VM is sealed") {
  const Tree image;
  image.file("/etc/machine-id", "");
  image.file("/etc/netplan/10-all.yaml",
             "network:\n  ethernets:\n    all:\n      match: {driver: vmxnet3}\n"
             "      dhcp4: true  # was 10.0.0.1/8\n# macaddress: 00:50:56:8a:9f:c2\n");
  image.file("/etc/pvrdma-agent/pvrdma-agent.toml",
             "[[adapter]]\nmatch = { pci = \"0000:13:00.1\" }\nmtu = 9000\n");
  image.file("/var/lib/pvrdma-agent/migrated/etc/rc.local", "modprobe vmw_pvrdma\n");
  const fake::Printed sealed = check(image);
  CHECK(sealed.code == 0);
  CHECK(sealed.out == "nothing of this VM would be handed down\n");
  image.file("/etc/machine-id", "uninitialized\n");
  CHECK(check(image).code == 0);
}

TEST_CASE("with an invalid configuration the other traces are found all the same") {
  const Tree image;
  image.file("/etc/machine-id", "");
  image.file("/etc/pvrdma-agent/pvrdma-agent.toml", "[modules]\nreload = \"sometimes\"\n");
  const fake::Printed unknown = check(image);
  CHECK(unknown.code == 3);
  CHECK(unknown.err.find("modules.reload = \"sometimes\"") != std::string::npos);
  image.file("/etc/machine-id", "0123456789abcdef0123456789abcdef\n");
  CHECK(check(image).code == 1);
  CHECK(found_in(image) == List{"machine-id /etc/machine-id"});
}

TEST_CASE("configuration from vSphere is no file of the image") {
  const Tree image;
  image.file("/etc/machine-id", "");
  image.file("/etc/pvrdma-agent/pvrdma-agent.toml", "guestinfo.enabled = true\n");
  image.file("/run/pvrdma-agent-guestinfo/answer", "config\n[readiness]\nadapters = 2\n");
  const fake::Printed sealed = check(image);
  CHECK(sealed.code == 0);
  CHECK(sealed.err.empty());
}

TEST_CASE("each trace that clones would share is found with its place") {
  const Tree image;
  image.file("/etc/machine-id", "0123456789abcdef0123456789abcdef\n");
  image.file("/etc/pvrdma-agent/pvrdma-agent.toml",
             "[[adapter]]\nmatch = { mac = \"00:50:56:8A:9F:C2\" }\n"
             "addresses = [\"192.168.30.201/24\"]\n");
  image.file("/etc/netplan/50-cloud-init.yaml", "macaddress: 00:50:56:8a:9f:c2\n");
  image.file("/etc/NetworkManager/system-connections/ens224f0.nmconnection",
             "[connection]\nuuid=0b3d9bd8-3b9c-4b8e-9d3a-2f6a3c1f4e55\n[ipv4]\n"
             "address1=192.168.30.201/24,192.168.30.1\n");
  image.file("/etc/sysconfig/network-scripts/ifcfg-ens224f0",
             "HWADDR=00:50:56:8A:9F:C2\nIPADDR=192.168.30.201\n");
  image.file("/etc/sysconfig/network-scripts/ifcfg-lo", "IPADDR=127.0.0.1\n");
  image.file("/etc/udev/rules.d/70-persistent-net.rules",
             "SUBSYSTEM==\"net\", ATTR{address}==\"00:50:56:8a:9f:c2\", NAME=\"eth1\"\n");
  image.file("/etc/systemd/network/10-x.link", "[Match]\nMACAddress=00-50-56-8a-9f-c2\n");
  image.program("/etc/rc.local", "modprobe -r vmw_pvrdma\n");
  CHECK(found_in(image) ==
        List{"agent-mac /etc/pvrdma-agent/pvrdma-agent.toml:2",
             "agent-address /etc/pvrdma-agent/pvrdma-agent.toml:3",
             "baked-mac /etc/netplan/50-cloud-init.yaml:1",
             "baked-uuid /etc/NetworkManager/system-connections/ens224f0.nmconnection:2",
             "baked-address /etc/NetworkManager/system-connections/ens224f0.nmconnection:4",
             "baked-mac /etc/sysconfig/network-scripts/ifcfg-ens224f0:1",
             "baked-address /etc/sysconfig/network-scripts/ifcfg-ens224f0:2",
             "baked-mac /etc/systemd/network/10-x.link:2",
             "baked-mac /etc/udev/rules.d/70-persistent-net.rules:1", "machine-id /etc/machine-id",
             "boot-script /etc/rc.local:2"});
  const fake::Printed text = check(image);
  CHECK(text.code == 1);
  CHECK(text.out.find("Match by pci") != std::string::npos);
  CHECK(text.out.find("`cloud-init clean --configs network`") != std::string::npos);
}

TEST_CASE("networkd's virtual links and drop-ins are read as well") {
  const Tree image;
  image.file("/etc/machine-id", "");
  image.file("/etc/systemd/network/10-rdma.network.d/override.conf",
             "[Network]\nAddress=192.168.30.201/24\n");
  image.file("/etc/systemd/network/10-rdma.network.d/note.txt", "Address=192.168.30.202/24\n");
  image.file("/etc/systemd/network/10-rdma.link.d/x.conf",
             "[Match]\nMACAddress=00:50:56:8a:9f:c2\n");
  image.file("/etc/systemd/network/bond0.netdev",
             "[NetDev]\nName=bond0\nKind=bond\nMACAddress=00:50:56:8a:9f:c2\n");
  image.file("/etc/systemd/network/bond0.netdev.d/x.conf",
             "[NetDev]\nMACAddress=00:50:56:8a:9f:c2\n");
  CHECK(found_in(image) ==
        List{"baked-mac /etc/systemd/network/bond0.netdev:4",
             "baked-mac /etc/systemd/network/10-rdma.link.d/x.conf:2",
             "baked-address /etc/systemd/network/10-rdma.network.d/override.conf:2",
             "baked-mac /etc/systemd/network/bond0.netdev.d/x.conf:2"});
}

TEST_CASE("the network that an installer leaves in cloud-init's settings is a trace") {
  const Tree image;
  image.file("/etc/machine-id", "");
  image.file("/etc/cloud/cloud.cfg.d/99-installer.cfg",
             "datasource:\n  None:\n    metadata: "
             "{instance-id: 0b3d9bd8-3b9c-4b8e-9d3a-2f6a3c1f4e55}\n");
  CHECK(found_in(image).empty());
  image.file("/etc/cloud/cloud.cfg.d/90-installer-network.cfg",
             "network:\n  ethernets:\n    ens224f0:\n      addresses:\n      - 192.168.30.201/24\n"
             "      match: {macaddress: \"00:50:56:8a:9f:c2\"}\n");
  CHECK(found_in(image) == List{"baked-address /etc/cloud/cloud.cfg.d/90-installer-network.cfg:5",
                                "baked-mac /etc/cloud/cloud.cfg.d/90-installer-network.cfg:6"});
  const std::string text = check(image).out;
  CHECK(text.find("Remove the network from the file") != std::string::npos);
  CHECK(text.find("cloud-init clean") == std::string::npos);
}

TEST_CASE("an address in cloud-init's version 1 is a trace, but not a name server's") {
  const Tree image;
  image.file("/etc/machine-id", "");
  const std::string file = "/etc/cloud/cloud.cfg.d/50-network.cfg";
  image.file(file,
             "network:\n  version: 1\n  config:\n  - type: physical\n    name: ens224f0\n"
             "    subnets:\n    - address: 10.20.1.100\n      netmask: 255.255.255.0\n"
             "      type: static\n    - type: static\n\n# the other\n"
             "      address: 10.20.2.100\n  - type: nameserver\n    address: 10.20.1.1\n"
             "  - address: 10.20.1.2\n    type: nameserver\n");
  CHECK(found_in(image) == List{"baked-address " + file + ":7", "baked-address " + file + ":13"});
}

TEST_CASE("an IPv6 address in the agent's configuration is a trace, however it is written") {
  const Tree image;
  image.file("/etc/machine-id", "");
  image.file("/etc/pvrdma-agent/pvrdma-agent.toml",
             "[[adapter]]\nmatch = { pci = \"0000:13:00.1\" }\n"
             "addresses = [\"2001:DB8:30::201/64\"]\n");
  CHECK(found_in(image) == List{"agent-address /etc/pvrdma-agent/pvrdma-agent.toml:3"});
}

TEST_CASE("lines that migrate finds in other places than boot scripts are traces") {
  const Tree image;
  image.file("/etc/machine-id", "");
  image.program("/etc/NetworkManager/dispatcher.d/99-rdma", "modprobe -r vmw_pvrdma\n");
  image.file("/etc/cloud/cloud.cfg.d/90-rdma.cfg", "runcmd:\n  - modprobe vmw_pvrdma\n");
  CHECK(found_in(image) == List{"boot-script /etc/NetworkManager/dispatcher.d/99-rdma:2",
                                "boot-script /etc/cloud/cloud.cfg.d/90-rdma.cfg:2"});
}

TEST_CASE("a script that another user can change is not read, so the image is not sealed") {
  const Tree image;
  image.file("/etc/machine-id", "");
  image.program("/etc/rc.local", "/home/x/up.sh\n");
  image.file("/home/x/up.sh", "modprobe vmw_pvrdma\n");
  REQUIRE(::chown((image / "/home/x/up.sh").c_str(), 1000, 1000) == 0);
  const fake::Printed sealed = check(image);
  CHECK(sealed.code == 3);
  CHECK(sealed.err.find(
            "/home/x/up.sh is not opened, as it is not root's alone: it belongs to uid 1000") !=
        std::string::npos);
}

TEST_CASE("MACs, UUIDs and addresses are told from similar words") {
  const std::vector<Trace> none;
  for (const char* line :
       {"pci-0000:13:00.1", "fe80::250:56ff:fe8a:9fc2/64", "version: 2", "10.0.0.1 is no prefix",
        "00:50:56:8a:9f", "00:50:56:8a:9f:c2:00", "mac: 00:00:00:00:00:00", "gid 1.2.3/4"}) {
    INFO(line);
    CHECK(probes::traces_in("/x", line) == none);
  }
  CHECK(probes::traces_in("/x", "a\nlist: [10.0.0.1/8, '10.0.0.2/8']\n") ==
        std::vector<Trace>{{TraceKind::Address, "/x", 2, "10.0.0.1/8"},
                           {TraceKind::Address, "/x", 2, "10.0.0.2/8"}});
  const auto found = [](const std::string& line) {
    std::vector<std::string> words;
    for (const Trace& trace : probes::traces_in("/x", line)) words.push_back(trace.what);
    return words;
  };
  CHECK(found("\taddress\t192.168.30.201\n") == List{"192.168.30.201"});
  CHECK(found("  address 10.0.0.7") == List{"10.0.0.7"});
  CHECK(found("IPADDR_0='10.0.0.7'") == List{"10.0.0.7"});
  CHECK(found("IPADDR=10.0.0.7/8") == List{"10.0.0.7/8"});
  CHECK(found("- 10.0.0.7/8:") == List{"10.0.0.7/8"});  // netplan's, with a lifetime below it
  CHECK(found("}\n:\n").empty());
  CHECK(found("gateway 10.0.0.1\ndns=10.0.0.7\naddress fd00::1/64").empty());
  CHECK(found("MAC=00-50-56-8A-9F-C2;id=\"0b3d9bd8-3b9c-4b8e-9d3a-2f6a3c1f4e55\"") ==
        List{"00-50-56-8A-9F-C2", "0b3d9bd8-3b9c-4b8e-9d3a-2f6a3c1f4e55"});
}

TEST_CASE("an initramfs older than the files that belong into it is found") {
  const Tree image;
  image.directory("/lib/modules/6.1.0-test");
  image.file("/boot/initrd.img-6.1.0-test", "image");
  image.file("/etc/modprobe.d/pvrdma.conf", "softdep vmw_pvrdma pre: vmxnet3\n");
  std::filesystem::last_write_time(
      image / "/boot/initrd.img-6.1.0-test",
      std::filesystem::last_write_time(image / "/etc/modprobe.d/pvrdma.conf") -
          std::chrono::hours{1});
  CHECK(found_in(image) == List{"initramfs-old /boot/initrd.img-6.1.0-test"});
  // A kernel without the driver does not load it out of order.
  test::module_index(image, "6.1.0-test");
  CHECK(found_in(image) == List{"initramfs-old /boot/initrd.img-6.1.0-test"});
  for (const char* file : {"modules.dep.bin", "modules.builtin.bin"})
    image.file(std::string{"/lib/modules/6.1.0-test/"} + file, std::string{test::kEmptyIndex});
  CHECK(found_in(image).empty());
}

TEST_CASE("an image with unreadable files is not sealed") {
  const Tree image;
  image.unreadable("/etc/machine-id");
  const fake::Printed sealed = check(image);
  CHECK(sealed.code == 3);
  CHECK(sealed.err.find("/etc/machine-id") != std::string::npos);
}
