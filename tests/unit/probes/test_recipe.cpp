// SPDX-License-Identifier: GPL-2.0-or-later
// The reload of the driver in scripts, crontabs and units in administrators' own forms, by line.
#include <string>

#include "tests/unit/catch.hpp"
#include "tests/unit/probes/recipe_lines.hpp"

using namespace pvrdma;
using namespace pvrdma::probes;
using namespace pvrdma::test;

namespace {

constexpr const char* kMore = "it does more than load or unload these modules";

Lines lines_of(const std::string& script) {
  return described(look_at(RecipeForm::Script, script, scope()).lines);
}

// The kind of one command, as a word.
std::string kind_of(const std::string& line) {
  const CommandLook look = look_at_command(line, scope());
  switch (look.kind) {
    case LineKind::Driver:
      return look.by_hand.empty() ? "simple" : "by hand";
    case LineKind::Link:
      return "link";
    case LineKind::Port:
      return "port";
    case LineKind::Other:
      break;
  }
  return "other";
}

void check_kinds(const std::string& kind, const Lines& lines) {
  for (const std::string& line : lines) {
    INFO(line);
    CHECK(kind_of(line) == kind);
  }
}

}  // namespace

TEST_CASE("commands with only the recipe are simple") {
  check_kinds(
      "simple",
      {"modprobe mlx4_ib", "/sbin/modprobe ib_umad", "sudo modprobe -v rdma-cm",
       "modprobe -r vmw_pvrdma", "modprobe -r vmw-pvrdma", "modprobe -rv vmw_pvrdma",
       "modprobe --remove vmw_pvrdma", "rmmod -f vmw_pvrdma", "modprobe -f -r vmw_pvrdma",
       "modprobe -a ib_umad rdma_cm", "modprobe vmxnet3", "modprobe ib_uverbs",
       "insmod /lib/modules/6.1.0/kernel/drivers/hw/vmw_pvrdma.ko.xz",
       "modprobe vmw_pvrdma >/dev/null 2>&1", "modprobe vmw_pvrdma 2> /dev/null || true",
       "modprobe -r vmw_pvrdma; modprobe vmw_pvrdma;",
       "rmmod vmw_pvrdma && sleep 2 && modprobe vmw_pvrdma || :", "modprobe vmw_pvrdma  # last"});
}

TEST_CASE("commands that hold the recipe, and more, are left to a person") {
  check_kinds("by hand", {"sudo -n /usr/sbin/modprobe rdma_ucm",
                          "sh -c 'modprobe -r vmw_pvrdma; modprobe vmw_pvrdma'",
                          "timeout 60 modprobe -r vmw_pvrdma",
                          "LANG=C modprobe vmw_pvrdma",
                          "modprobe vmw_pvrdma nfs",
                          "modprobe vmw_pvrdma debug=1",
                          "modprobe -C /tmp/x vmw_pvrdma",
                          "modprobe -f vmw_pvrdma",
                          "modprobe --force vmw_pvrdma",
                          "modprobe -r vmw_pvrdma; insmod -f /lib/modules/x/vmw_pvrdma.ko",
                          "modprobe -r vmxnet3",
                          "sh -c 'modprobe vmw_pvrdma; mount /scratch'",
                          "X=$(modprobe -r vmw_pvrdma)",
                          "os.system(\"modprobe vmw_pvrdma\")",
                          "modprobe vmw_pvrdma &",
                          "modprobe vmw_pvrdma >/tmp/log",
                          "modprobe vmw_pvrdma &&",
                          "/tmp/modprobe vmw_pvrdma",
                          "insmod /root/vmw_pvrdma.ko",
                          "insmod vmw_pvrdma.ko",
                          "if modprobe vmw_pvrdma; then reboot; fi",
                          "{ modprobe vmw_pvrdma; }",
                          "mount /scratch; modprobe vmw_pvrdma",
                          "for m in ib_umad; do modprobe ib_umad; done",
                          "systemctl restart rdma.service",
                          "service openibd restart",
                          "/etc/init.d/openibd restart"});
}

TEST_CASE("names in braces, in a variable and from another program") {
  CHECK(without_braces("modprobe -rv {vmw_pvrdma,rdma_{ucm,cm}} {a} ${b}") ==
        "modprobe -rv vmw_pvrdma rdma_ucm rdma_cm {a} ${b}");
  CHECK(without_braces("vmw_{pvrdma,x}.ko;{ a, b; }") == "vmw_pvrdma.ko vmw_x.ko;{ a, b; }");
  check_kinds("simple",
              {"modprobe -rv {vmw_pvrdma,rdma_{ucm,cm}}", "modprobe -r vmw_{pvrdma,pvrdma}"});
  check_kinds("by hand",
              {"for m in ib_umad vmw_pvrdma; do modprobe -r $m; done",
               "echo vmw_pvrdma ib_umad | xargs -n1 modprobe -r", "m=vmw_pvrdma; rmmod \"${m}\""});
  check_kinds("other", {"for m in nfs; do modprobe -r $m; done", "ls | xargs modprobe"});
  std::string nested;
  while (nested.size() < kLongestLine) nested += "{a,{b,";
  CHECK(without_braces(nested).size() <= 16U << 10U);
  for (std::string wide = "x"; wide.size() < kLongestLine;) {
    wide += "{a,b}";
    static_cast<void>(without_braces(wide));
  }
  constexpr const char* kNamed =
      ": the module that it loads or unloads is named elsewhere: vmw_pvrdma is in line ";
  CHECK(lines_of("reload() {\n  modprobe -r $1\n  echo\n}\nreload vmw_pvrdma\n") ==
        Lines{std::string{"2"} + kNamed + "5"});
  CHECK(lines_of("M=(\n  ib_umad\n  vmw_pvrdma  # last\n)\nrmmod \"${M[@]}\"\n") ==
        Lines{std::string{"5"} + kNamed + "3"});
  CHECK(lines_of("# vmw_pvrdma\nmodprobe -r $1\n").empty());
  CHECK(lines_of("modprobe -r \\\n  vmw_pvrdma\n") ==
        Lines{"1: the command goes on in the next line"});
}

TEST_CASE("rules of udev, in each way of running a command") {
  const auto rules = [](const std::string& text) {
    Lines numbers;
    for (const RecipeLine& line : look_at(RecipeForm::UdevRules, text, scope()).lines)
      numbers.push_back(std::to_string(line.number));
    return numbers;
  };
  CHECK(rules("RUN+=\"/bin/sh -c \\\"modprobe -r vmw_pvrdma\\\"\"\n"
              "RUN{builtin}+=\"kmod load vmw_pvrdma\"\n"
              "DRIVER==\"vmw_pvrdma\", ATTR{driver/unbind}=\"$kernel\"\n"
              "DRIVER==\"vmw_pvrdma\", ATTR{driver_override}==\"\", NAME=\"a\"\n"
              "KERNEL==\"vmw_pvrdma0\", \\\n  IMPORT{program}=\"/sbin/rmmod vmw_pvrdma\"\n") ==
        Lines{"1", "2", "3", "6"});
  CHECK(look_at(RecipeForm::UdevRules, "RUN{program}+=\"/opt/fix.sh %k\"\n", scope())
            .scripts.contains("/opt/fix.sh"));
}

TEST_CASE("commands that bind, unbind or block the driver") {
  check_kinds("by hand", {"echo 0000:0b:00.1 > /sys/bus/pci/drivers/vmw_pvrdma/unbind",
                          "echo vmw_pvrdma | tee /sys/bus/pci/devices/0000:0b:00.1/driver_override",
                          "echo 'blacklist vmw_pvrdma' > /etc/modprobe.d/x.conf",
                          "echo 'modprobe vmw_pvrdma' >> /etc/rc.local",
                          "echo install vmw_pvrdma /bin/true >> /etc/modprobe.d/x.conf"});
  check_kinds("other",
              {"echo 0000:3b:00.0 > /sys/bus/pci/drivers/nvme/unbind",
               "echo vfio-pci > /sys/bus/pci/devices/0000:3b:00.0/driver_override",
               "install -m 644 vmw_pvrdma.ko /lib/modules/x", "echo blacklist vmw_pvrdma"});
  RecipeScope here = scope();
  here.functions = {"0000:0b:00.1"};
  CHECK(look_at_command("echo 1 > /sys/bus/pci/devices/0000:0b:00.1/remove", here).touches_driver);
}

TEST_CASE("lines about links and ports are told from the recipe and from others") {
  check_kinds("link", {"ifconfig ens224f0 up", "ip link set ens224f0 up",
                       "/sbin/ip -4 link set dev ens224f0 up mtu 9000",
                       "ip addr add 192.168.30.201/24 dev ens224f0",
                       "ip a add 192.168.30.201/24 brd 192.168.30.255 dev ens224f0",
                       "ifconfig ens224f0 192.168.30.201 netmask 255.255.255.0 up",
                       "ip link set $DEV mtu 9000", "netplan apply"});
  check_kinds("port", {"ibv_devinfo -d vmw_pvrdma0", "rdma link",
                       "until ibv_devinfo | grep -q PORT_ACTIVE; do sleep 1; done"});
  check_kinds(
      "other",
      {"modprobe nfs", "rmmod", "modprobe", "modprobe -r", "ip link set ens192 up",
       "ifconfig ens192 up", "ip link set ens224f0 down", "ip addr flush dev ens224f0",
       "ip route add default via 192.168.30.1 dev ens224f0", "systemctl restart nfs",
       "service rdma stop", "echo-modprobe vmw_pvrdma",
       "echo 'modprobe vmw_pvrdma is done by the agent'", "mount /a # before modprobe vmw_pvrdma",
       "/opt/modprobe.sh", "ib_send_bw -d rocep19s0f1", "exit 0", "rdma resource show"});
}

TEST_CASE("commands that load or unload vmw_pvrdma touch the driver") {
  for (const char* line : {"modprobe vmw_pvrdma", "rmmod vmw_pvrdma", "modprobe -r ib_umad",
                           "systemctl restart openibd", "insmod /x/vmw_pvrdma.ko"})
    CHECK(look_at_command(line, scope()).touches_driver);
  for (const char* line : {"modprobe ib_umad", "ibv_devinfo", "ip link set ens224f0 mtu 9000"})
    CHECK(!look_at_command(line, scope()).touches_driver);
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
        Lines{"3", "4", std::string{"5: "} + kMore});
}

TEST_CASE("a command over several lines, and one whose status is used, stay together") {
  constexpr const char* kGoesOn = ": the command before it goes on here";
  CHECK(lines_of("mount /a &&\n# why\nmodprobe vmw_pvrdma\nmodprobe ib_umad\n") ==
        Lines{std::string{"3"} + kGoesOn, "4"});
  CHECK(lines_of("echo a \\\nmodprobe vmw_pvrdma\n") == Lines{std::string{"2"} + kGoesOn});
  CHECK(lines_of("echo a | # why\nmodprobe vmw_pvrdma\n") == Lines{std::string{"2"} + kGoesOn});
  CHECK(lines_of("modprobe mlx4_ib && \\\n  modprobe ib_umad\n") ==
        Lines{std::string{"1: "} + kMore, std::string{"2"} + kGoesOn});
  CHECK(lines_of("modprobe vmw_pvrdma\n\nif [ $? -ne 0 ]; then reboot; fi\n") ==
        Lines{"1: the next command asks how it ended ($?)"});
}

TEST_CASE("lines that may be text are left") {
  constexpr const char* kText = ": it may be a part of a text that begins in line ";
  for (const char* begin :
       {"cat >/etc/motd <<EOF\n", "echo 'a\n", "x=\"a\n", "x=\"$(echo '\"')\n", "y=$'\\'\n", "`\n",
        // A string within a $( ) within a string.
        "echo \"$(echo \"\n", "x=\"${y:-\"\n", "x=$(echo \"$(echo 'a\n", "x=\"$(date # \")\"\n",
        "x=\"$(case a in a) echo \"\n"})
    CHECK(lines_of(begin + std::string{"modprobe vmw_pvrdma\n"}) ==
          Lines{std::string{"2"} + kText + "1"});
  for (const char* begin : {"echo \"don't\"\n", "echo it\\'s\n", "x=\"$(date)\"\n", "a # don't\n",
                            "x=\"$(echo \"a\" 'b')${y:-\"c\"}\"\n", "y=$((1 + 2)); z=${#y}\n",
                            "# don't\n", "awk '{print \"x\"}'\n"})
    CHECK(lines_of(begin + std::string{"modprobe vmw_pvrdma\n"}) == Lines{"2"});
  CHECK(lines_of("modprobe ib_umad\necho 'never closed\nmodprobe rdma_cm\n") ==
        Lines{"1", std::string{"3"} + kText + "2"});
}

TEST_CASE("blocks: lines of their own are found, those of the block are left") {
  CHECK(lines_of("for i in 1 2 3; do\n"
                 "  modprobe -r vmw_pvrdma\n"
                 "  modprobe vmw_pvrdma\n"
                 "  sleep 5\n"
                 "done\n") == Lines{"2", "3"});
  CHECK(lines_of("if ! modprobe vmw_pvrdma; then\n  mail root\nfi\n") ==
        Lines{std::string{"1: "} + kMore});
  CHECK(lines_of("case $1 in\n  start)\n    modprobe vmw_pvrdma\n    ;;\n"
                 "  stop) modprobe -r vmw_pvrdma ;;\nesac\n") ==
        Lines{"3: the script is left as it is: line 5, which stays, unloads modules",
              std::string{"5: "} + kMore});
  CHECK(lines_of("(sleep 30; modprobe -r vmw_pvrdma; modprobe vmw_pvrdma) &\n") ==
        Lines{std::string{"1: "} + kMore});
}

TEST_CASE("only a script of sh or bash is edited, checked by this system's own shell") {
  CHECK(look_at(RecipeForm::Script, "#!/bin/sh -e\n", {}).shell == "/bin/sh");
  CHECK(look_at(RecipeForm::Script, "#!/usr/bin/env bash\n", {}).shell == "/bin/bash");
  CHECK(look_at(RecipeForm::Script, "#!/home/user/bash\n", {}).shell == "/bin/bash");
  CHECK(look_at(RecipeForm::Script, "modprobe vmw_pvrdma\n", {}).shell == "/bin/sh");
  CHECK(lines_of("#!/bin/ksh\nmodprobe vmw_pvrdma\n") ==
        Lines{"2: its script is for another interpreter than sh and bash"});
}

TEST_CASE("a line is looked at up to its limit") {
  const std::string filler(kLongestLine, ' ');
  CHECK(lines_of("modprobe vmw_pvrdma" + filler + "; mount /a\n") ==
        Lines{"1: the line is too long"});
  CHECK(lines_of(filler + "modprobe vmw_pvrdma\n").empty());
}

TEST_CASE("crontabs: commands at boot, and commands at intervals") {
  const std::string system =
      "MAILTO=root\n"
      "@reboot root /sbin/modprobe -r vmw_pvrdma; /sbin/modprobe vmw_pvrdma\n"
      "@reboot root sleep 30 && /usr/local/sbin/pvrdma-up\n"
      "0 3 * * * root modprobe vmw_pvrdma\n"
      "# @reboot root modprobe ib_umad\n@reboot\n";
  const auto look = look_at(RecipeForm::SystemCrontab, system, scope());
  CHECK(described(look.lines) == Lines{"2", "4: cron runs it again and again (0 3 * * *): a loop"});
  CHECK(!look.lines.at(1).at_boot);
  CHECK(look.scripts.size() == 1);
  CHECK(look.scripts.contains("/usr/local/sbin/pvrdma-up"));
  CHECK(described(look_at(RecipeForm::Crontab, "@reboot modprobe ib_umad\n", scope()).lines) ==
        Lines{"1"});
}

TEST_CASE("units: with only the recipe, or with more") {
  const auto whole = look_at(RecipeForm::Unit,
                             "[Unit]\nDescription=modprobe vmw_pvrdma\n[Service]\nType=oneshot\n"
                             "ExecStartPre=-/sbin/modprobe -r vmw_pvrdma\n"
                             "ExecStart=/bin/sh -c 'modprobe ib_umad; modprobe vmw_pvrdma'\n"
                             "ExecStart=/bin/sleep 2\nRemainAfterExit=yes\n",
                             scope());
  CHECK(whole.nothing_else);
  CHECK(described(whole.lines) == Lines{"5", "6"});
  for (const char* more :
       {"ExecStartPre=/sbin/modprobe vmw_pvrdma\nExecStart=/usr/sbin/slurmd -D\n",
        "ExecStart=/sbin/modprobe vmw_pvrdma\nExecStop=/usr/bin/umount /a\n",
        "ExecStart=/sbin/modprobe vmw_pvrdma\nExecStartPost=/usr/bin/mount /a\n",
        "ExecStart=/sbin/modprobe vmw_pvrdma; mount /a\n"})
    CHECK(!look_at(RecipeForm::Unit, "[Service]\n" + std::string{more}, scope()).nothing_else);
  const auto continued =
      look_at(RecipeForm::Unit,
              "[Service]\nExecStart=/bin/sh -c 'mount /a; \\\n  modprobe vmw_pvrdma'\n", scope());
  CHECK(!continued.nothing_else);
  CHECK(described(continued.lines) == Lines{std::string{"3: "} + kMore});
}
