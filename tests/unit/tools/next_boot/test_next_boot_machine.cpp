// SPDX-License-Identifier: GPL-2.0-or-later
// `doctor --next-boot` together with this machine's own state and configuration.
#include <unistd.h>

#include "tests/unit/tools/next_boot/next_boot_tree.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

TEST_CASE("next boot: this boot's command line counts where the next one's is not known") {
  const Tree tree;
  small_kernel(tree, "6.1.0", "/boot/vmlinuz-6.1.0");
  tree.file("/proc/cmdline", "ro module_blacklist=vmw_pvrdma\n");
  CHECK(answer(tree)["driver"] == "no");
  tree.file("/boot/grub/grub.cfg", "menuentry 'x' {\n linux /boot/vmlinuz-6.1.0 ro\n}\n");
  CHECK(answer(tree)["driver"] == "yes");
}

TEST_CASE("next boot: this machine's adapters, their links, units and scripts") {
  const Tree tree;
  small_kernel(tree, "6.1.0", "/boot/vmlinuz-6.1.0");
  install_agent(tree);
  tree.file("/proc/sys/kernel/osrelease", "6.1.0\n");
  test::bound_adapter(tree, "0b:00", "ens192f0", "rocep11s0f1", "uverbs0");
  test::bound_adapter(tree, "13:00", "ens224f0", "rocep19s0f1", "uverbs1");
  tree.file("/sys/class/net/ens192f0/address", "00:50:56:00:00:01\n");
  tree.file("/sys/class/net/ens224f0/address", "00:50:56:00:00:02\n");
  tree.file("/etc/pvrdma-agent/pvrdma-agent.toml",
            "[[adapter]]\nmatch = { mac = \"00:50:56:00:00:02\" }\naddresses = [\"10.0.0.1/24\"]\n"
            "[[adapter]]\nmatch = { pci = \"0000:0b:00.1\" }\nmanage = \"observe\"\n"
            "[[adapter]]\nmatch = { mac = \"00:50:56:00:00:99\" }\n");
  tree.program("/etc/rc.local", "modprobe -r vmw_pvrdma\nmodprobe vmw_pvrdma\n");
  enable(tree, "slurmd.service");
  const Seen seen = look(tree, false, {"slurmd", "none"});
  CHECK(seen.code == 1);
  for (const char* part :
       {"DRIVER  6.1.0 (next, running)", "ens192f0 (0000:0b:00.1): nothing will bring it up",
        "ens224f0 (0000:13:00.1): this agent\n", "slurmd.service: 8 MiB (systemd's default)",
        "none.service: no such unit", "/etc/rc.local loads or unloads the driver as well",
        "link-unowned: ", "boot-script: ", "LimitMEMLOCK=infinity",
        "The next boot takes 6.1.0: the only one installed."}) {
    INFO(part << " in\n" << seen.out);
    CHECK(seen.out.find(part) != std::string::npos);
  }
  // An [[adapter]] for an adapter that is not here is no link of this machine.
  CHECK(seen.out.find("00:50:56:00:00:99") == std::string::npos);
  CHECK(seen.err.empty());
}

TEST_CASE("next boot: a script that is not root's alone is not read, so the answer is unknown") {
  const Tree tree;
  captured(tree, "debian-12", "6.1.0-56-amd64");
  CHECK(look(tree, false).code == 0);
  tree.program("/etc/rc.local", "/home/x/up.sh\n");
  tree.file("/home/x/up.sh", "modprobe vmw_pvrdma\n");
  REQUIRE(::chown((tree / "/home/x/up.sh").c_str(), 1000, 1000) == 0);
  const Seen seen = look(tree, false);
  CHECK(seen.code == 3);
  CHECK(seen.err.find(
            "/home/x/up.sh is not opened, as it is not root's alone: it belongs to uid 1000") !=
        std::string::npos);
}

TEST_CASE("next boot: the owner of a link that two tables match is unknown") {
  const Tree tree;
  small_kernel(tree, "6.1.0", "/boot/vmlinuz-6.1.0");
  install_agent(tree);
  test::bound_adapter(tree, "13:00", "ens224f0", "rocep19s0f1", "uverbs1");
  tree.file("/etc/pvrdma-agent/pvrdma-agent.toml",
            "[[adapter]]\nmatch = { pci = \"0000:13:00.1\" }\naddresses = [\"10.0.0.1/24\"]\n"
            "[[adapter]]\nmatch = { netdev = \"ens224f0\" }\n");
  const Seen seen = look(tree, false);
  CHECK(seen.out.find("this agent") == std::string::npos);
  CHECK(seen.out.find("pci = \"0000:13:00.1\" and netdev = \"ens224f0\"") != std::string::npos);
}

TEST_CASE("next boot: no kernel, unreadable files, a bad configuration") {
  const Tree tree;
  install_agent(tree);
  CHECK(ids(answer(tree)) == List{"no-kernel", "memlock-low"});
  CHECK(look(tree, false).code == 3);
  small_kernel(tree, "6.1.0", "/boot/vmlinuz-6.1.0");
  small_kernel(tree, "6.2.0", "/boot/vmlinuz-6.2.0");
  tree.unreadable("/boot/grub/grub.cfg");
  tree.file("/etc/pvrdma-agent/pvrdma-agent.toml",
            "[modules]\nbefore = [\"rdma_cm\"]\nrequired = []\n");
  const Seen seen = look(tree, false);
  CHECK(seen.code == 3);
  CHECK(seen.err.find("grub.cfg") != std::string::npos);
  CHECK(seen.out.find("could not be read") != std::string::npos);
  // The agent starts with such a file too, so the forecast goes on, with the default modules.
  tree.file("/etc/pvrdma-agent/pvrdma-agent.toml", "[modules]\nbefore = 3\n");
  CHECK(look(tree, false).code == 1);
  const Json bad = answer(tree);
  CHECK(ids(bad)[0] == "config-bad");
  CHECK(bad["findings"][0]["summary"].get<std::string>().find("modules.before") !=
        std::string::npos);
  CHECK(bad["kernels"].size() == 2);
}
