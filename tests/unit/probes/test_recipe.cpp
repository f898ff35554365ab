// The field's recipe in scripts, crontabs and units as they are found in the field.
#include <sstream>
#include <string>
#include <vector>

#include "probes/recipe/below.hpp"
#include "probes/recipe/find.hpp"
#include "probes/recipe/formats.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::probes;
using test::Tree;

namespace {

using Lines = std::vector<std::string>;

RecipeScope scope() {
  RecipeScope scope;
  scope.netdevs = {"ens224f0"};
  scope.addresses = {"192.168.30.201/24"};
  scope.mtus = {9000};
  return scope;
}

// "3", "4-6", and with why where they are left: "7: it also runs mount".
Lines described(const RecipeReading& reading) {
  Lines list;
  for (const RecipeLines& found : reading.lines) {
    std::string one = std::to_string(found.first);
    if (found.last != found.first) one += "-" + std::to_string(found.last);
    if (found.in_block) one += " in block";
    if (!found.left.empty()) one += ": " + found.left;
    list.push_back(one);
  }
  return list;
}
Lines lines_of(const std::string& script) { return described(read_recipe(script, scope())); }

// What one command is, in a word.
std::string kind_of(const std::string& line) {
  const auto script = parse_shell(line);
  if (script.statements.size() != 1 || script.statements[0].commands.size() != 1) return "several";
  switch (judge(script.statements[0].commands[0], scope()).kind) {
    case Judgement::Kind::Recipe:
      return "recipe";
    case Judgement::Kind::Filler:
      return "filler";
    case Judgement::Kind::Other:
      break;
  }
  return "other";
}

constexpr const char* kElsewhere = "it is a part of an if, a loop or a function that does more";

}  // namespace

TEST_CASE("commands of the recipe are known, however they are called") {
  for (const char* line :
       {"modprobe mlx4_ib",
        "/sbin/modprobe ib_umad",
        "sudo modprobe -v rdma-cm",
        "sudo -n /usr/sbin/modprobe rdma_ucm",
        "modprobe -r vmw_pvrdma",
        "modprobe -rv vmw_pvrdma",
        "modprobe --remove vmw_pvrdma",
        "rmmod -f vmw_pvrdma",
        "modprobe -a ib_umad rdma_cm",
        "insmod /lib/modules/6.1.0/kernel/drivers/infiniband/hw/vmw_pvrdma/vmw_pvrdma.ko.xz",
        "ibv_devinfo -d vmw_pvrdma0",
        "rdma link",
        "systemctl restart rdma.service",
        "service openibd restart",
        "/etc/init.d/openibd restart",
        "ifconfig ens224f0 up",
        "ip link set ens224f0 up",
        "/sbin/ip -4 link set dev ens224f0 up mtu 9000",
        "ip addr add 192.168.30.201/24 dev ens224f0",
        "ip a add 192.168.30.201/24 brd 192.168.30.255 dev ens224f0",
        "ifconfig ens224f0 192.168.30.201 netmask 255.255.255.0 up",
        "modprobe vmw_pvrdma >/dev/null 2>&1",
        "sh -c 'modprobe -r vmw_pvrdma; modprobe vmw_pvrdma'",
        "timeout 60 modprobe -r vmw_pvrdma",
        "LANG=C modprobe vmw_pvrdma"}) {
    INFO(line);
    CHECK(kind_of(line) == "recipe");
  }
}

TEST_CASE("what looks like the recipe, but is not, is left alone") {
  for (const char* line : {"modprobe nfs",
                           "modprobe -r vmxnet3",
                           "modprobe vmw_pvrdma nfs",
                           "rmmod",
                           "modprobe",
                           "modprobe -r",
                           "ip link set ens192 up",
                           "ifconfig ens192 up",
                           "ip link set ens224f0 down",
                           "ip addr add 192.168.30.202/24 dev ens224f0",
                           "ip link set ens224f0 mtu 1500",
                           "ip addr flush dev ens224f0",
                           "ip route add default via 192.168.30.1 dev ens224f0",
                           "systemctl restart nfs",
                           "service rdma stop",
                           "echo-modprobe vmw_pvrdma",
                           "/opt/modprobe.sh",
                           "sh -c 'modprobe vmw_pvrdma; mount /scratch'",
                           "ib_send_bw -d rocep19s0f1",
                           "exit 0",
                           "X=$(modprobe -r vmw_pvrdma)",
                           "rdma resource show"}) {
    INFO(line);
    CHECK(kind_of(line) != "recipe");
  }
}

TEST_CASE("a line that the configuration does not know yet says what it lacks") {
  const auto reading = read_recipe("ip addr add 10.0.0.1/8 dev ens224f0\n", scope());
  REQUIRE(reading.lines.size() == 1);
  CHECK(reading.lines[0].left ==
        "the agent does this once its configuration has addresses = [\"10.0.0.1/8\"]");
}

TEST_CASE("rc.local of Ubuntu and of CentOS") {
  CHECK(lines_of("#!/bin/sh -e\n"
                 "#\n"
                 "# rc.local: modprobe vmw_pvrdma is below\n"
                 "/sbin/modprobe mlx4_ib\n"
                 "/sbin/modprobe ib_umad\n"
                 "/sbin/modprobe rdma_cm\n"
                 "/sbin/modprobe rdma_ucm\n"
                 "/sbin/modprobe -r vmw_pvrdma\n"
                 "/sbin/modprobe vmw_pvrdma\n"
                 "\n"
                 "exit 0\n") == Lines{"4", "5", "6", "7", "8", "9"});
  CHECK(lines_of("#!/bin/bash\n"
                 "touch /var/lock/subsys/local\n"
                 "modprobe mlx4_ib && modprobe ib_umad; modprobe rdma_cm; modprobe rdma_ucm\n"
                 "rmmod vmw_pvrdma; sleep 2; modprobe vmw_pvrdma || true\n"
                 "mount /scratch; modprobe vmw_pvrdma\n") ==
        Lines{"3", "4", "5: it also runs mount"});
}

TEST_CASE("lines that go on, quotes and here-documents") {
  CHECK(lines_of("modprobe mlx4_ib && \\\n  modprobe ib_umad\n"
                 "modprobe rdma_cm &&\nmodprobe rdma_ucm\n"
                 "mount /a &&\nmodprobe vmw_pvrdma\n") ==
        Lines{"1-2", "3-4", "5-6: it also runs mount"});
  CHECK(lines_of("cat >/etc/motd <<EOF\nmodprobe vmw_pvrdma\nEOF\n"
                 "cat <<-'END' >x\n\tmodprobe ib_umad\n\tEND\n"
                 "echo 'a\nmodprobe rdma_cm\nb'\n"
                 "x=\"$(echo \"modprobe rdma_ucm\")\"\n"
                 "modprobe ib_umad\n") == Lines{"11"});
}

TEST_CASE("blocks: whole where they are nothing but the recipe, else line by line") {
  CHECK(lines_of("until ibv_devinfo | grep -q PORT_ACTIVE; do sleep 1; done\n") == Lines{"1"});
  CHECK(lines_of("for i in 1 2 3; do\n"
                 "  modprobe -r vmw_pvrdma\n"
                 "  modprobe vmw_pvrdma\n"
                 "  sleep 5\n"
                 "done\n") == Lines{"1-5"});
  CHECK(lines_of("if lspci -d 15ad:0820 | grep -q .; then\n"
                 "  modprobe -r vmw_pvrdma\n"
                 "  modprobe vmw_pvrdma\n"
                 "fi\n") == Lines{"2 in block", "3 in block"});
  CHECK(lines_of("if ! modprobe vmw_pvrdma; then\n  mail root\nfi\n") ==
        Lines{std::string{"1: "} + kElsewhere});
  CHECK(lines_of("reload() {\n  modprobe -r vmw_pvrdma\n  modprobe vmw_pvrdma\n}\nreload\n") ==
        Lines{"2 in block", "3 in block"});
  CHECK(lines_of("case $1 in\n  start)\n    modprobe vmw_pvrdma\n    ;;\n  stop) modprobe -r "
                 "vmw_pvrdma ;;\n  *) usage ;;\nesac\n") ==
        Lines{"3 in block", "5 in block: it is a part of a case, which is not taken apart"});
  CHECK(lines_of("(sleep 30; modprobe -r vmw_pvrdma; modprobe vmw_pvrdma) &\n") == Lines{"1"});
  CHECK(lines_of("i=0\nwhile [ $i -lt 5 ]; do\n  ibv_devinfo | grep -q ACTIVE && break\n"
                 "  i=$((i+1))\n  sleep 1\ndone\n") == Lines{"2-6"});
}

TEST_CASE("a script that is not understood to its end says where from") {
  const auto reading = read_recipe("modprobe ib_umad\necho 'never closed\nmodprobe rdma_cm\n", {});
  CHECK(reading.trouble_line == 2);
  CHECK(described(reading) == Lines{"1"});
  CHECK(read_recipe("[[ a < b && c > d ]] && modprobe ib_umad\ncat <<EOF\n", {}).trouble_line == 2);
}

TEST_CASE("crontabs: @reboot only") {
  const std::string system =
      "MAILTO=root\n"
      "@reboot root /sbin/modprobe -r vmw_pvrdma; /sbin/modprobe vmw_pvrdma\n"
      "@reboot root sleep 30 && /usr/local/sbin/pvrdma-up\n"
      "0 3 * * * root modprobe vmw_pvrdma\n"
      "# @reboot root modprobe ib_umad\n@reboot\n";
  const auto reading = read_crontab(system, true, scope());
  CHECK(described(reading) == Lines{"2"});
  CHECK(reading.scripts == Lines{"/usr/local/sbin/pvrdma-up"});
  CHECK(described(read_crontab("@reboot modprobe ib_umad\n", false, scope())) == Lines{"1"});
}

TEST_CASE("units: for nothing but the recipe, or for more") {
  const auto whole = read_unit(
      "[Unit]\nDescription=x\n[Service]\nType=oneshot\n"
      "ExecStartPre=-/sbin/modprobe -r vmw_pvrdma\n"
      "ExecStart=/bin/sh -c 'modprobe ib_umad; \\\n  modprobe vmw_pvrdma'\n"
      "ExecStart=/bin/sleep 2\nRemainAfterExit=yes\n",
      scope());
  CHECK(whole.nothing_else);
  CHECK(described(whole) == Lines{"5", "6-7"});
  const auto more = read_unit(
      "[Service]\nExecStartPre=/sbin/modprobe vmw_pvrdma\nExecStart=/usr/sbin/slurmd -D\n",
      scope());
  CHECK(!more.nothing_else);
  CHECK(described(more) == Lines{"2"});
  const auto bare = read_unit(
      "[Service]\nExecStart=/sbin/modprobe vmw_pvrdma\nExecStartPost=/usr/bin/mount /a\n", scope());
  CHECK(described(bare) ==
        Lines{"2: the unit would have no ExecStart= left, and does something else as well"});
}

TEST_CASE("the places of a machine, and what they call") {
  const Tree tree;
  tree.file("/etc/rc.d/rc.local", "#!/bin/bash\n. /usr/local/lib/rdma.sh\n/usr/bin/true\n");
  tree.link("/etc/rc.local", "/etc/rc.d/rc.local");  // absolute: below the root all the same
  tree.file("/usr/local/lib/rdma.sh", "modprobe -r vmw_pvrdma\nmodprobe vmw_pvrdma\n");
  std::filesystem::permissions(tree / "/etc/rc.d/rc.local", std::filesystem::perms::owner_all);
  tree.file("/etc/cron.d/pvrdma", "@reboot root modprobe vmw_pvrdma\n");
  tree.file("/etc/modules", "# x\nloop\nvmw_pvrdma\n");
  tree.file("/etc/systemd/system/rdma-up.service", "[Service]\nExecStart=/sbin/modprobe ib_umad\n");
  tree.file("/etc/systemd/system/on.service", "[Service]\nExecStart=/opt/on.sh\n");
  tree.file("/opt/on.sh", "modprobe rdma_cm\n");
  tree.link("/etc/systemd/system/multi-user.target.wants/on.service", "../on.service");
  tree.unreadable("/var/spool/cron/crontabs/root");

  const Recipe recipe = find_recipe(tree.root(), scope());
  Lines found;
  for (const RecipeFile& file : recipe.files)
    found.push_back(file.path + (file.at_boot ? "" : " not at boot") +
                    (file.by.empty() ? "" : " by " + file.by) + " of " + file.unit);
  CHECK(found == Lines{"/usr/local/lib/rdma.sh by /etc/rc.d/rc.local of rc-local.service",
                       "/etc/cron.d/pvrdma of cron.service",
                       "/opt/on.sh by /etc/systemd/system/on.service of on.service",
                       "/etc/systemd/system/rdma-up.service not at boot of rdma-up.service",
                       "/etc/modules of "});
  REQUIRE(recipe.unreadable.size() == 1);
  CHECK(recipe.unreadable[0].code == ELOOP);

  tree.file("/etc/systemd/system/on.service.d/90-pvrdma-agent-migrated.conf", "[Unit]\n");
  for (const RecipeFile& file : find_recipe(tree.root(), scope()).files)
    CHECK((file.path != "/opt/on.sh" || !file.at_boot));
}

TEST_CASE("a unit's drop-ins count with it") {
  const Tree tree;
  const std::string unit = "/etc/systemd/system/up.service";
  tree.file(unit, "[Service]\nExecStart=/sbin/modprobe vmw_pvrdma\n");
  CHECK(find_recipe(tree.root(), scope()).files.at(0).reading.nothing_else);
  tree.file(unit + ".d/a.conf", "[Service]\nExecStartPost=/usr/bin/mount /a\n");
  const auto more = find_recipe(tree.root(), scope()).files.at(0).reading;
  CHECK(!more.nothing_else);
  CHECK(described(more) == Lines{"2: a drop-in gives the unit something else to do"});
  tree.file("/etc/systemd/system/slurmd.service.d/a.conf",
            "[Service]\nExecStartPre=modprobe ib_umad\nExecStart=\nExecStart=modprobe rdma_cm\n");
  CHECK(described(find_recipe(tree.root(), scope()).files.at(0).reading) ==
        Lines{"2", "4: a drop-in's ExecStart= may be the only one that the unit has"});
}

TEST_CASE("links of an image stay in the image") {
  const Tree tree;
  tree.link("/a", "/b/../c");
  tree.link("/c", "../../../d");
  tree.link("/loop", "loop");
  CHECK(resolve_below(tree.root(), "/a/x").value_or("") == "/d/x");
  CHECK(resolve_below(tree.root(), "/loop").error().code == ELOOP);
}
