// SPDX-License-Identifier: GPL-2.0-or-later
// `doctor` on made-up systems, with an agent, without one, and in a container; and its screens.
#include "agent/model/catalogue.hpp"
#include "agent/tools/doctor/examination.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/samples.hpp"
#include "tests/unit/tools/doctor/diagnosed.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using namespace pvrdma::test;

TEST_CASE("with an agent that says ready, and nothing wrong around it: usable") {
  const Tree tree;
  good_machine(tree);
  const fake::Directory directory;
  const fake::Agent agent{directory / "socket", with_health(samples::ready())};
  const Diagnosed found = diagnose(tree, directory / "socket");
  CHECK(found.err.empty());
  CHECK(found.code == 0);
  const Json json = found.json();
  CHECK(json["usable"] == "yes");
  CHECK(json["next_move"].is_null());
  CHECK(json["asked_agent"] == true);
  CHECK(json["findings"].empty());
}

TEST_CASE("findings of the agent and of the surroundings are one list, the worst first") {
  const Tree tree;
  good_machine(tree);
  tree.remove("/usr/lib64/libibverbs/libvmw_pvrdma-rdmav34.so");
  const fake::Directory directory;
  const fake::Agent agent{directory / "socket", with_health(samples::degraded())};
  const Diagnosed found = diagnose(tree, directory / "socket");
  CHECK(found.code == 2);
  const Json json = found.json();
  CHECK(json["findings"][0]["id"] == "provider-missing");
  CHECK(json["findings"][0]["commands"][0] == "apt-get install ibverbs-providers");
  CHECK(json["next_move"] == "image");
  CHECK(found.has("driver-in-use"));
  for (const Json& check : json["checks"])
    if (check["area"] == "libraries") CHECK(check["verdict"] == "error");
}

TEST_CASE("an agent that does not know leaves it unknown whether RDMA is usable") {
  const Tree tree;
  good_machine(tree);
  const fake::Directory directory;
  const fake::Agent agent{directory / "socket", with_health(samples::stale())};
  const Diagnosed found = diagnose(tree, directory / "socket");
  CHECK(found.code == 3);
  CHECK(found.json()["usable"] == "unknown");
}

TEST_CASE("in a container the agent's answer counts too") {
  Examination examination;
  examination.survey.container = std::string{"docker"};
  examination.snapshot.adapters = std::vector<Adapter>{};
  examination.state = State::Converging;
  CHECK(usable(examination) == Usable::Yes);  // by our own look, which does not see everything
  examination.by_agent = true;
  CHECK(usable(examination) == Usable::WithWarnings);
  examination.state = State::Ready;
  CHECK(usable(examination) == Usable::Yes);
}

TEST_CASE("a row without a known fact is not good") {
  const Tree tree;
  const fake::Directory directory;
  const Json json = diagnose(tree, directory / "socket").json();
  for (const Json& check : json["checks"]) {
    INFO(check["area"] << ": " << check["evidence"]);
    // Nothing blocks a module here, and the clock is this machine's own.
    if (check["area"] != "blocks" && check["area"] != "clock") CHECK(check["verdict"] != "good");
  }
}

TEST_CASE("doctor and the forecast of the next boot say the same of logins' memory") {
  const Tree tree;
  good_machine(tree);
  const fake::Directory directory;
  const fake::Agent agent{directory / "socket", with_health(samples::ready())};
  const auto row = [&] {
    const Json json = diagnose(tree, directory / "socket").json();
    for (const Json& check : json["checks"])
      if (check["area"] == "memlock")
        return check["verdict"].get<std::string>() + " " + check["evidence"][1].get<std::string>();
    return std::string{};
  };
  tree.remove("/etc/security/limits.d/90-rdma.conf");
  CHECK(row() == "info logins: 8 MiB (systemd's default)");
  tree.file("/etc/systemd/system.conf", "[Manager]\nDefaultLimitMEMLOCK=infinity\n");
  CHECK(row() == "good logins: unlimited (/etc/systemd/system.conf:2)");
  tree.file("/etc/security/limits.d/rdma.conf", "* - memlock 64\n");
  CHECK(row() == "info logins: 64 KiB (/etc/security/limits.d/rdma.conf:1)");
}

TEST_CASE("without an agent it looks itself, and says that there is none") {
  const Tree tree;
  good_machine(tree);
  tree.remove("/sys/bus/pci/devices/0000:13:00.1");
  const fake::Directory directory;
  const Diagnosed found = diagnose(tree, directory / "socket");
  CHECK(found.code == 2);
  CHECK(found.has("agent-not-running"));
  CHECK(found.has("no-rdma-function"));
  CHECK(found.json()["next_move"] == "host");
  const Diagnosed ticket = diagnose(tree, directory / "socket", false, true);
  CHECK(ticket.code == 2);
  CHECK(ticket.out.find("Adapter Type: PVRDMA") != std::string::npos);
  CHECK(ticket.out.find("0000:13:00.0") != std::string::npos);
}

TEST_CASE("a bad configuration is one of the findings") {
  const Tree tree;
  good_machine(tree);
  tree.file("/etc/pvrdma-agent/pvrdma-agent.toml", "[modules]\nreload = \"sometimes\"\n");
  const fake::Directory directory;
  const Diagnosed found = diagnose(tree, directory / "socket");
  CHECK(found.has("config-bad"));
  CHECK(found.has("agent-not-running"));
}

TEST_CASE("in a container a missing agent is no finding, and the engine's options are named") {
  const Tree tree;
  good_machine(tree);
  tree.file("/.dockerenv", "");
  tree.remove("/dev/infiniband/rdma_cm");
  tree.remove("/sys/bus/pci/devices/0000:13:00.0/net");
  const fake::Directory directory;
  const Diagnosed found = diagnose(tree, directory / "socket");
  CHECK(found.code == 2);
  CHECK(found.json()["container"] == "docker");
  REQUIRE(found.json()["findings"].size() == 2);
  CHECK(found.json()["findings"][0]["commands"][0] ==
        "docker run --device /dev/infiniband/rdma_cm --ulimit memlock=-1 --network host IMAGE");
  CHECK(found.json()["findings"][1]["id"] == "container-network");
}

TEST_CASE("a good pod needs no agent of its own") {
  const Tree tree;
  good_machine(tree);
  tree.file("/proc/self/mountinfo", "9 8 8:1 / /dev/termination-log rw - ext4 /dev/sda1 rw\n");
  const fake::Directory directory;
  const Diagnosed found = diagnose(tree, directory / "socket");
  CHECK(found.json()["container"] == "kubernetes");
  CHECK_FALSE(found.has("agent-not-running"));
}

TEST_CASE("after a crash of the driver its adapters are left alone") {
  const Tree tree;
  good_machine(tree);
  tree.file("/proc/sys/kernel/tainted", "128\n");
  tree.file("/dev/kmsg", "1,1,5,-;BUG: x\n4,2,5,-; f+0x1/0x2 [vmw_pvrdma]\n");
  const fake::Directory directory;
  const Diagnosed found = diagnose(tree, directory / "socket");
  CHECK(found.code == 2);
  const Json json = found.json();
  CHECK(json["findings"][0]["id"] == "driver-crashed");
  for (const Json& check : json["checks"]) CHECK(check["area"] != "ports");
}

TEST_CASE("the screen: verdict, findings with lines to copy, rows of evidence") {
  Examination examination;
  examination.state = State::Ready;
  examination.snapshot.adapters = std::vector<Adapter>{};
  examination.findings = {make_finding(FindingId::MemlockLow, "shell", {{"limit", "8 MiB"}})};
  doctor::Check memlock{"memlock", Concern::Memlock};
  memlock.plain("this process: 8 MiB");
  memlock.unread = {"reading x: Permission denied"};
  doctor::Check ports{"ports", Concern::Ports};
  ports.good("rocep0: port ACTIVE");
  ports.good("rocep1: port ACTIVE");
  examination.checks = {memlock, ports};
  CHECK(render_examination(examination, Style{}) ==
        R"(USABLE WITH WARNINGS  next move: yours, in this guest

WARNING  memlock-low: This shell may lock only 8 MiB of memory: applications
         fail to register buffers.
         To do: For logins write it into /etc/security/limits.d, and log in
         anew.
           printf '* - memlock unlimited\n' >/etc/security/limits.d/90-rdma.conf

warning  memlock    this process: 8 MiB
                    not known: reading x: Permission denied
good     ports      rocep0: port ACTIVE
                    rocep1: port ACTIVE
)");
}

TEST_CASE("the ticket: the VM, the fault, and the causes with the evidence for them") {
  const VmIdentity vm{"node1", "Ubuntu, Linux 5.15", "", {"00:50:56:8a:9f:c2 (0000:13:00.1, ens)"}};
  const doctor::HostTrouble trouble{
      FindingId::PortDown,
      "0000:13:00.1",
      "The port is DOWN.",
      {{"It is unset.", "no other is ACTIVE", {"esxcli a", "esxcli b"}, "Host > Configure"},
       {"It is closed.", "less likely", {}, ""}}};
  CHECK(render_ticket({vm, {trouble}, {}}, 80) ==
        R"(PVRDMA in VM node1: for the vSphere administrator

Guest:    Ubuntu, Linux 5.15
Adapter:  00:50:56:8a:9f:c2 (0000:13:00.1, ens)

The port is DOWN.
The most likely cause first:

1. It is unset. (no other is ACTIVE)
   vSphere Client: Host > Configure
   ESXi shell: esxcli a
   ESXi shell: esxcli b

2. It is closed. (less likely)
)");
  const Json json = ticket_json({vm, {trouble}, {}});
  CHECK(json["troubles"][0]["causes"][0]["commands"][1] == "esxcli b");
}

TEST_CASE("the ticket has the whole checklist, also where nothing is wrong") {
  Snapshot snapshot;
  Adapter adapter;
  adapter.net_function = "0000:13:00.0";
  adapter.netdev = Netdev{};
  adapter.netdev.get()->name = "ens224f0";
  adapter.netdev.get()->mtu = 9000;
  snapshot.adapters = std::vector{adapter};
  snapshot.first_nic = std::string{"0000:03:00.0"};
  const auto checklist = doctor::host_checklist(snapshot, {});
  const std::string text = render_ticket({{"node1", "Ubuntu", "", {}}, {}, checklist}, 400);
  CHECK(has_part(text, "\nThe guest sees no fault on the host's side.\n"));
  for (const char* part :
       {"speed of the NICs", "auto-negotiation", "LAG", "priority flow", "Network I/O Control",
        "Uplink 1 to Uplink 4", "same distributed switch", "7.0.0", "Net.PVRDMAVmknic",
        "28250-28761", "hardware version is 13", "RoCE v2", "connected at power on",
        "ens224f0 here has MTU 9000", "the first NIC is 0000:03:00.0, which is none",
        "ESXi shell: esxcli network vswitch dvs vmware list\n"})
    CHECK(has_part(text, part));
  const Json json = ticket_json({{}, {}, checklist});
  CHECK(json["troubles"].empty());
  CHECK(json["checklist"][0]["area"] == "Physical switch");
  CHECK(json["checklist"].size() == checklist.size());
}
