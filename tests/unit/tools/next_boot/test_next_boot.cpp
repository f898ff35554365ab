// SPDX-License-Identifier: GPL-2.0-or-later
// `doctor --next-boot` on the roots of distributions.
#include <archive.h>

#include <map>

#include "tests/unit/cpio.hpp"
#include "tests/unit/tools/next_boot/next_boot_tree.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

TEST_CASE("next boot of a captured Debian 12 with the package") {
  const Tree tree;
  captured(tree, "debian-12", "6.1.0-56-amd64");
  Json seen = answer(tree);
  CHECK(seen["driver"] == "yes");
  CHECK(seen["next"] == Json{{"release", "6.1.0-56-amd64"}, {"by", "the link /vmlinuz"}});
  REQUIRE(seen["kernels"].size() == 1);
  CHECK(kernel_row(seen, "driver") == "yes vmw_pvrdma is shipped");
  CHECK(kernel_row(seen, "modules") == "yes all of modules.before are shipped");
  CHECK(kernel_row(seen, "order") ==
        "yes after vmxnet3, mlx4_ib, ib_umad, rdma_cm, rdma_ucm, by modprobe.d");
  CHECK(kernel_row(seen, "initramfs") == "yes there is none");
  CHECK(row(seen["machine"], "agent") == "yes pvrdma-agent.service is enabled");
  // Debian sets no limit for logins, and systemd's own is small.
  CHECK(ids(seen) == List{"memlock-low"});
  CHECK(seen["unreadable"].empty());
  CHECK(look(tree, false).code == 0);
  // By its name it is Debian 12, where pam_limits gives logins the limits of PID 1.
  tree.file("/etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n");
  seen = answer(tree);
  CHECK(row(seen["machine"], "memlock") ==
        "unknown logins: they have the limits of PID 1, which are not known here");
  CHECK(seen["findings"].empty());
  CHECK(look(tree, false).code == 0);
}

TEST_CASE("next boot of a captured Debian 12: a module that the driver needs is blocked") {
  const Tree tree;
  captured(tree, "debian-12", "6.1.0-56-amd64");
  tree.file("/etc/security/limits.d/90-rdma.conf", "* - memlock unlimited\n");
  const auto fixture = [](const std::string& name) {
    return read_file(std::string{places::fixtures} + "/field/" + name).value();
  };
  tree.file("/usr/lib/modules/6.1.0-56-amd64/modules.dep",
            "kernel/vmw_pvrdma.ko: kernel/ib_uverbs.ko kernel/ib_core.ko\n"
            "kernel/ib_umad.ko: kernel/ib_core.ko\nkernel/mlx4_ib.ko: kernel/ib_core.ko\n");
  tree.file("/etc/modprobe.d/stig.conf", fixture("stig-blacklist.conf"));
  Json seen = answer(tree);
  CHECK(seen["driver"] == "no");
  CHECK(kernel_row(seen, "driver") ==
        "no vmw_pvrdma is kept from being loaded: it needs ib_core, kept away by \"install ib_core "
        "/bin/true\" in /etc/modprobe.d/stig.conf:14");
  // Blocked: the driver, and all modules before it but vmxnet3.
  CHECK(ids(seen) == List(5, "module-blocked"));
  tree.remove("/etc/modprobe.d/stig.conf");
  tree.file("/etc/modprobe.d/vfio.conf", fixture("vfio-pci.conf"));
  seen = answer(tree);
  CHECK(seen["driver"] == "no");
  CHECK(ids(seen) == List{"function-claimed"});
  CHECK(kernel_row(seen, "driver").find("/etc/modprobe.d/vfio.conf:1") != std::string::npos);
}

TEST_CASE("next boot of a captured Debian 13, whose initramfs holds the driver") {
  const Tree tree;
  const std::string release = "6.12.117+deb13-amd64";
  captured(tree, "debian-13", release);
  tree.file("/etc/security/limits.d/90-rdma.conf", "* - memlock unlimited\n");
  const std::string modules = "usr/lib/modules/" + release + "/kernel/";
  std::map<std::string, std::string> files{
      {"usr/lib/modprobe.d/pvrdma-agent.conf", kOurs},
      {modules + "drivers/infiniband/hw/vmw_pvrdma/vmw_pvrdma.ko", "x"}};
  const auto build = [&] {
    tree.file("/boot/initrd.img-" + release, test::cpio(files, ARCHIVE_FILTER_ZSTD));
  };
  build();
  CHECK(ids(answer(tree)) == List{"order-not-set"});
  for (const std::string name : {"vmxnet3", "mlx4_ib", "ib_umad", "rdma_cm", "rdma_ucm"})
    files[modules + name + ".ko.xz"] = "x";
  build();
  Json seen = answer(tree);
  CHECK(seen["findings"].empty());
  CHECK(kernel_row(seen, "initramfs") == "yes holds the driver, and modprobe.d as it is now");
  CHECK(look(tree, false).code == 0);
  tree.file("/etc/modprobe.d/mine.conf", "options vmw_pvrdma x=1\n");
  seen = answer(tree);
  CHECK(ids(seen) == List{"initramfs-old"});
  CHECK(kernel_row(seen, "initramfs") == "no holds the driver, and an older modprobe.d");
  tree.file("/boot/initrd.img-" + release, "not an image");
  CHECK(kernel_row(answer(tree), "initramfs").starts_with("unknown"));
  CHECK(look(tree, false).code == 3);
}

TEST_CASE("next boot of a captured Debian 12 without the package") {
  const Tree tree;
  captured(tree, "debian-12", "6.1.0-56-amd64");
  for (const char* path : {"/usr/lib/systemd/system/pvrdma-agent.service",
                           "/usr/lib/systemd/system/pvrdma-agent-executor.socket",
                           "/usr/lib/modprobe.d/pvrdma-agent.conf"})
    tree.remove(path);
  tree.file("/etc/pvrdma-agent/pvrdma-agent.toml",
            "[[adapter]]\nmatch = { netdev = \"ens224f0\" }\n");
  CHECK(ids(answer(tree)) ==
        List{"order-not-set", "agent-not-enabled", "link-unowned", "memlock-low"});
  CHECK(look(tree, false).code == 1);
}

TEST_CASE("next boot of an Ubuntu: two kernels, one without its extra modules, netplan") {
  const Tree tree;
  install_agent(tree);
  tree.remove("/usr/lib/modprobe.d/pvrdma-agent.conf");
  tree.file("/lib/modprobe.d/pvrdma-agent.conf", kOurs);
  small_kernel(tree, "5.15.0-91-generic", "/boot/vmlinuz-5.15.0-91-generic");
  // The newer kernel was installed without linux-modules-extra.
  small_kernel(tree, "5.15.0-100-generic", "/boot/vmlinuz-5.15.0-100-generic");
  without_modules(tree, "5.15.0-100-generic");
  tree.file(
      "/boot/grub/grub.cfg",
      "if [ \"${next_entry}\" ] ; then\n   set default=\"${next_entry}\"\nelse\n"
      "   set default=\"${saved_entry}\"\nfi\n"
      "menuentry 'Ubuntu' --class ubuntu $menuentry_id_option 'gnulinux-simple-12ab' {\n"
      "\tlinux\t/boot/vmlinuz-5.15.0-100-generic root=UUID=12ab ro quiet splash\n}\n"
      "submenu 'Advanced options for Ubuntu' $menuentry_id_option 'gnulinux-advanced-12ab' {\n"
      "\tmenuentry 'Ubuntu, with Linux 5.15.0-91-generic' $menuentry_id_option "
      "'gnulinux-5.15.0-91-generic-advanced-12ab' {\n"
      "\t\tlinux\t/boot/vmlinuz-5.15.0-91-generic root=UUID=12ab ro quiet splash\n\t}\n}\n");
  tree.file(
      "/boot/grub/grubenv",
      "# GRUB Environment Block\nsaved_entry=gnulinux-advanced-12ab>gnulinux-5.15.0-91-generic-"
      "advanced-12ab\n");
  tree.file("/etc/netplan/50-rdma.yaml",
            "network:\n  version: 2\n  ethernets:\n    ens224f0:\n      addresses: "
            "[192.168.30.201/24]\n");
  tree.file("/etc/pvrdma-agent/pvrdma-agent.toml",
            "[[adapter]]\nmatch = { netdev = \"ens224f0\" }\n");
  Json seen = answer(tree);
  CHECK(seen["driver"] == "yes");
  CHECK(seen["kernels"][0]["release"] == "5.15.0-91-generic");
  CHECK(kernel_row(seen, "driver", 1) == "no this kernel does not ship vmw_pvrdma");
  CHECK(ids(seen)[0] == "kernel-without-driver");
  CHECK(row(seen["machine"], "link") ==
        "yes netdev = \"ens224f0\": systemd-networkd, by /etc/netplan/50-rdma.yaml");

  std::filesystem::remove(tree / "/boot/grub/grubenv");
  seen = answer(tree);
  CHECK(seen["kernels"][0]["release"] == "5.15.0-100-generic");
  CHECK(seen["driver"] == "no");
  CHECK(ids(seen)[0] == "driver-not-shipped");
  CHECK(look(tree, false).code == 2);
}

TEST_CASE(
    "next boot of an Enterprise Linux: boot loader entries, a blacklist on the command line") {
  const Tree tree;
  install_agent(tree);
  tree.link("/lib", "usr/lib");
  enable(tree, "NetworkManager.service");
  const std::string release = "5.14.0-362.8.1.el9_3.x86_64";
  small_kernel(tree, release, "/boot/vmlinuz-" + release);
  small_kernel(tree, "5.14.0-70.el9.x86_64", "/boot/vmlinuz-5.14.0-70.el9.x86_64");
  tree.file("/boot/grub2/grub.cfg", "set default=\"${saved_entry}\"\ninsmod blscfg\nblscfg\n");
  tree.file("/boot/grub2/grubenv", "saved_entry=0a1b-" + release + "\n");
  const std::string entry = "/boot/loader/entries/0a1b-" + release + ".conf";
  tree.file(entry, "title RHEL\nlinux /vmlinuz-" + release + "\noptions root=/dev/sda3 ro\n");
  tree.file("/etc/pvrdma-agent/pvrdma-agent.toml",
            "[[adapter]]\nmatch = { mac = \"00:50:56:8a:9f:c2\" }\n");
  tree.private_file("/etc/NetworkManager/system-connections/rdma.nmconnection",
                    "[connection]\ntype=ethernet\n[ethernet]\nmac-address=00:50:56:8A:9F:C2\n");
  Json seen = answer(tree);
  CHECK(seen["next"]["release"] == release);
  CHECK(seen["driver"] == "yes");
  CHECK(row(seen["machine"], "link") ==
        "yes mac = \"00:50:56:8a:9f:c2\": NetworkManager, by "
        "/etc/NetworkManager/system-connections/rdma.nmconnection");
  CHECK(look(tree, false).code == 1);  // rdma_ucm is required and not shipped

  tree.file(entry, "linux /vmlinuz-" + release + "\noptions ro modprobe.blacklist=vmw_pvrdma\n");
  seen = answer(tree);
  CHECK(seen["driver"] == "no");
  CHECK(look(tree, false).code == 2);
}

TEST_CASE("next boot: an image's /sys does not tell whether Secure Boot is on") {
  const Tree tree;
  install_agent(tree);
  const std::string release = "6.1.0-56-amd64";
  small_kernel(tree, release, "/boot/vmlinuz-" + release);
  tree.file("/lib/modules/" + release + "/kernel/net/vmw_pvrdma.ko", "not a module");
  tree.file("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
            std::string{'\6', '\0', '\0', '\0', '\1'});
  CHECK(kernel_row(answer(tree), "driver") == "yes vmw_pvrdma is shipped");
}

TEST_CASE("next boot: where /boot is not mounted, its initramfs is not known") {
  const Tree tree;
  install_agent(tree);
  const std::string release = "5.14.0-362.8.1.el9_3.x86_64";
  small_kernel(tree, release, "/lib/modules/" + release + "/vmlinuz");
  CHECK(kernel_row(answer(tree), "initramfs") ==
        "unknown none in /boot, which does not have the kernel either: is /boot mounted?");
  tree.file("/etc/machine-id", "0123\n");
  tree.file("/efi/0123/" + release + "/linux", "");
  tree.directory("/boot");
  CHECK(kernel_row(answer(tree), "initramfs") ==
        "unknown none in /boot; an image beside /efi/0123/" + release + "/linux is not looked at");
  tree.file("/boot/vmlinuz-" + release, "");
  CHECK(kernel_row(answer(tree), "initramfs") == "yes there is none");
}

TEST_CASE("next boot: a good machine has rows and no findings") {
  const Tree tree;
  captured(tree, "debian-12", "6.1.0-56-amd64");
  tree.file("/etc/security/limits.conf", "*\t-\tmemlock\tunlimited\n");
  const Seen seen = look(tree, false);
  CHECK(seen.code == 0);
  CHECK(seen.out ==
        "The next boot takes 6.1.0-56-amd64: the link /vmlinuz.\n\n"
        "DRIVER  6.1.0-56-amd64 (next)\n"
        "  driver     vmw_pvrdma is shipped\n"
        "  modules    all of modules.before are shipped\n"
        "  order      after vmxnet3, mlx4_ib, ib_umad, rdma_cm, rdma_ucm, by modprobe.d\n"
        "  initramfs  there is none\n\n"
        "MACHINE\n"
        "  agent      pvrdma-agent.service is enabled\n"
        "  memlock    logins: unlimited (/etc/security/limits.conf:1)\n");
}
