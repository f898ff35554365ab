// SPDX-License-Identifier: GPL-2.0-or-later
// What doctor says about the files that cloud-init and NetworkManager leave in a clone of a VM
// (tests/fixtures/field).
#include "agent/tools/doctor/surroundings.hpp"
#include "agent/tools/doctor/survey_probe.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/places.hpp"
#include "tests/unit/probes/tree.hpp"

using namespace pvrdma;

namespace {

constexpr const char* kProfiles = "/etc/NetworkManager/system-connections/";
constexpr const char* kCloudInit = "cloud-init-ens224.nmconnection";
constexpr const char* kOther = "ens224.nmconnection";

std::string field_file(const std::string& name) {
  return read_file(std::string{places::fixtures} + "/field/" + name).value();
}

// An adapter whose link is ens224.
struct Clone {
  test::Tree tree;
  explicit Clone(const std::string& mac) {
    test::bound_adapter(tree, "13:00", "ens224", "rocep19s0f1", "uverbs0");
    tree.file("/sys/class/net/ens224/address", mac + "\n");
    tree.file("/sys/class/net/ens192/address", "00:50:56:00:0a:00\n");
    tree.file("/usr/lib/systemd/system/NetworkManager.service", "[Unit]\n");
    tree.link("/etc/systemd/system/multi-user.target.wants/NetworkManager.service",
              "/usr/lib/systemd/system/NetworkManager.service");
  }
  void profile(const std::string& name) const {
    tree.private_file(kProfiles + name, field_file(name));
  }
  [[nodiscard]] std::vector<Finding> findings() const {
    ctl::DoctorOptions options;
    options.root = tree.root();
    std::vector<Finding> found =
        doctor::surroundings({}, Snapshot{}, probes::survey(options, Config{}));
    std::erase_if(found, [](const Finding& one) { return one.id != FindingId::LinkProfile; });
    return found;
  }
};

const std::string kOfTemplate = "00:50:56:00:0a:01";
const std::string kOfClone = "00:50:56:00:0b:02";

}  // namespace

TEST_CASE("netplan's file with the template's MAC is named in the clone") {
  const std::string text = field_file("50-cloud-init.yaml");
  const Clone clone{kOfClone};
  clone.tree.file("/etc/netplan/50-cloud-init.yaml", text);
  const auto found = clone.findings();
  // ens192's MAC, the other one in the file, is here: without the file ens192 has no address.
  REQUIRE(found.size() == 1);
  CHECK(found[0].summary ==
        "/etc/netplan/50-cloud-init.yaml has settings for the MAC address 00:50:56:00:0a:01, which "
        "no interface here has: they apply to nothing.");
  CHECK(found[0].remedy.find("the whole file only if it has no settings for other interfaces") !=
        std::string::npos);
  CHECK(found[0].severity == Severity::Warning);
  const Clone machine{kOfTemplate};
  machine.tree.file("/etc/netplan/50-cloud-init.yaml", text);
  CHECK(machine.findings().empty());
}

TEST_CASE("a MAC may be that of a netdev in a container") {
  const Clone machine{kOfClone};
  machine.profile(kCloudInit);
  CHECK(machine.findings().size() == 1);
  // Another adapter's netdev is in another network namespace.
  test::pci_function(machine.tree, "0000:1b:00.0", "15AD", "07B0", "vmxnet3");
  test::pci_function(machine.tree, "0000:1b:00.1", "15AD", "0820", "vmw_pvrdma");
  CHECK(machine.findings().empty());
}

TEST_CASE("a file with a list of MACs is named if no interface has one of them") {
  const Clone machine{kOfTemplate};
  machine.tree.file("/usr/lib/systemd/system/systemd-networkd.service", "[Unit]\n");
  machine.tree.link("/etc/systemd/system/multi-user.target.wants/systemd-networkd.service",
                    "/usr/lib/systemd/system/systemd-networkd.service");
  const std::string file = "/etc/systemd/network/x.network";
  machine.tree.file(file, "[Match]\nMACAddress=02:00:00:00:00:01 " + kOfTemplate + "\n");
  CHECK(machine.findings().empty());
  machine.tree.file(file, "[Match]\nMACAddress=02:00:00:00:00:01 02:00:00:00:00:02\n");
  const auto found = machine.findings();
  REQUIRE(found.size() == 1);
  CHECK(found[0].values.at("mac") == "02:00:00:00:00:01 or 02:00:00:00:00:02");
}

TEST_CASE("of two profiles for a link the larger priority wins") {
  const Clone machine{kOfTemplate};
  machine.profile(kOther);
  CHECK(machine.findings().empty());
  machine.profile(kCloudInit);
  const auto found = machine.findings();
  REQUIRE(found.size() == 1);
  CHECK(found[0].summary.find("profiles for ens224: it takes " + std::string{kProfiles} +
                              kCloudInit +
                              ", as its autoconnect-priority is 120 and not -999, and not " +
                              kProfiles + kOther) != std::string::npos);
  CHECK(found[0].severity == Severity::Info);
}

TEST_CASE("a profile that NetworkManager does not accept is no rival, and named") {
  const Clone machine{kOfTemplate};
  machine.profile(kCloudInit);
  machine.tree.file(kProfiles + std::string{kOther}, field_file(kOther));
  const auto found = machine.findings();
  REQUIRE(found.size() == 1);
  CHECK(found[0].summary.find("NetworkManager ignores " + std::string{kProfiles} + kOther) == 0);
}

TEST_CASE("in the clone the profile with the template's MAC is no rival") {
  const Clone clone{kOfClone};
  clone.profile(kOther);
  clone.profile(kCloudInit);
  const auto found = clone.findings();
  REQUIRE(found.size() == 1);
  CHECK(found[0].summary.find(kCloudInit) != std::string::npos);
  CHECK(found[0].summary.find("which no interface here has") != std::string::npos);
}

TEST_CASE("of one priority the profile that was used last wins, where a file tells") {
  const Clone machine{kOfTemplate};
  const std::string keys = "interface-name=ens224\n[ethernet]\n";
  for (const char* name : {"a", "b"})
    machine.tree.private_file(
        kProfiles + std::string{name} + ".nmconnection",
        "[connection]\ntype=ethernet\nuuid=" + std::string{name} + "\n" + keys);
  auto found = machine.findings();
  REQUIRE(found.size() == 1);
  CHECK(found[0].summary.find("a.nmconnection, ") != std::string::npos);
  CHECK(found[0].summary.find("cannot be told from files") != std::string::npos);
  CHECK(found[0].severity == Severity::Warning);
  machine.tree.file("/var/lib/NetworkManager/timestamps",
                    "[timestamps]\na=1684000000\nb=1684000001\n");
  found = machine.findings();
  REQUIRE(found.size() == 1);
  CHECK(found[0].summary.find("it takes " + std::string{kProfiles} +
                              "b.nmconnection, as it was used last") != std::string::npos);
  // Of a profile without a UUID the time of its last use is not known.
  machine.tree.private_file(kProfiles + std::string{"c.nmconnection"},
                            "[connection]\ntype=ethernet\n" + keys);
  found = machine.findings();
  REQUIRE(found.size() == 1);
  CHECK(found[0].summary.find("cannot be told from files") != std::string::npos);
}

TEST_CASE("a container's files are not its host's") {
  const Clone clone{kOfClone};
  clone.profile(kCloudInit);
  CHECK(clone.findings().size() == 1);
  clone.tree.file("/run/systemd/container", "docker\n");
  CHECK(clone.findings().empty());
}
