// `doctor --next-boot` on captured and made-up roots.
#include <archive.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/tools/next_boot/command.hpp"
#include "tests/unit/captured.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/cpio.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/probes/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using test::Tree;

namespace {

using Json = nlohmann::json;
using List = std::vector<std::string>;

constexpr const char* kOurs =
    "softdep vmw_pvrdma pre: pvrdma_agent_before\n"
    "install pvrdma_agent_before /sbin/modprobe --use-blacklist --quiet --all vmxnet3 mlx4_ib "
    "ib_umad rdma_cm rdma_ucm\nremove pvrdma_agent_before /bin/true\n";

struct Seen {
  int code = 0;
  std::string out, err;
};
Seen look(const Tree& tree, bool json, const List& units = {}) {
  fake::Screen screen;
  Settings settings;
  settings.json = json;
  const int code =
      next_boot(settings, screen.console, {(tree.root() / "/").string(), units, INITRAMFS_CONTENT});
  return {code, screen.out(), screen.err()};
}
Json answer(const Tree& tree, const List& units = {}) {
  return Json::parse(look(tree, true, units).out);
}

List ids(const Json& answer) {
  List list;
  for (const Json& finding : answer["findings"]) list.push_back(finding["id"].get<std::string>());
  return list;
}
// "yes all of modules.before are shipped" of the kernel at that place.
std::string row(const Json& checks, const std::string& name) {
  for (const Json& check : checks)
    if (check["check"] == name)
      return check["outlook"].get<std::string>() + " " + check["says"].get<std::string>();
  return "none";
}
std::string kernel_row(const Json& answer, const std::string& name, std::size_t at = 0) {
  return row(answer["kernels"][at]["checks"], name);
}

void enable(const Tree& tree, const std::string& service) {
  tree.file("/usr/lib/systemd/system/" + service, "[Service]\nExecStart=/bin/true\n");
  tree.link("/etc/systemd/system/multi-user.target.wants/" + service,
            "/usr/lib/systemd/system/" + service);
}
// What the package installs.
void install_agent(const Tree& tree) {
  enable(tree, "pvrdma-agent.service");
  tree.file("/usr/lib/systemd/system/pvrdma-agent-executor.socket", "[Socket]\n");
  tree.file("/usr/lib/modprobe.d/pvrdma-agent.conf", kOurs);
}
// A disk of the lab with its links and images, and the package.
void captured(const Tree& tree, const std::string& name, const std::string& release) {
  test::unpack(std::string{FIXTURES} + "/next-boot/" + name + ".tar.xz", tree);
  tree.link("/lib", "usr/lib");
  tree.file("/boot/vmlinuz-" + release, "");
  tree.link("/vmlinuz", "boot/vmlinuz-" + release);
  install_agent(tree);
}
// An index of rdma_cm and vmw_pvrdma, and vmxnet3 built in (tests/fixtures/module-index).
void small_kernel(const Tree& tree, const std::string& release, const std::string& image) {
  for (const std::string file : {"modules.dep.bin", "modules.builtin.bin"}) {
    std::filesystem::create_directories(tree / ("/lib/modules/" + release));
    std::filesystem::copy_file(std::string{FIXTURES} + "/module-index/" + file,
                               tree / ("/lib/modules/" + release + "/" + file));
  }
  tree.file(image, "");
}

// Nothing but what is built in.
void without_modules(const Tree& tree, const std::string& release) {
  const std::string folder = "/lib/modules/" + release;
  std::filesystem::copy_file(tree / (folder + "/modules.builtin.bin"),
                             tree / (folder + "/modules.dep.bin"),
                             std::filesystem::copy_options::overwrite_existing);
}

}  // namespace

TEST_CASE("next boot of a captured Debian 12 with the package") {
  const Tree tree;
  captured(tree, "debian-12", "6.1.0-56-amd64");
  const Json seen = answer(tree);
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

TEST_CASE("next boot of a captured Debian 12 without the package, as it comes") {
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
  // The newer one came without linux-modules-extra.
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
  tree.file("/etc/NetworkManager/system-connections/rdma.nmconnection",
            "[connection]\ntype=ethernet\n[ethernet]\nmac-address=00:50:56:8A:9F:C2\n");
  Json seen = answer(tree);
  CHECK(seen["next"]["release"] == release);
  CHECK(seen["driver"] == "yes");
  CHECK(row(seen["machine"], "link") ==
        "yes mac = \"00:50:56:8a:9f:c2\": NetworkManager, by "
        "/etc/NetworkManager/system-connections/rdma.nmconnection");
  CHECK(look(tree, false).code == 1);  // rdma_ucm, which is required, is not shipped

  tree.file(entry, "linux /vmlinuz-" + release + "\noptions ro modprobe.blacklist=vmw_pvrdma\n");
  seen = answer(tree);
  CHECK(seen["driver"] == "no");
  CHECK(look(tree, false).code == 2);
}

TEST_CASE("next boot: this boot's command line counts where the next one's is not known") {
  const Tree tree;
  small_kernel(tree, "6.1.0", "/boot/vmlinuz-6.1.0");
  tree.file("/proc/cmdline", "ro module_blacklist=vmw_pvrdma\n");
  CHECK(answer(tree)["driver"] == "no");
  tree.file("/boot/grub/grub.cfg", "menuentry 'x' {\n linux /boot/vmlinuz-6.1.0 ro\n}\n");
  CHECK(answer(tree)["driver"] == "yes");
}

TEST_CASE("next boot: adapters that are here, their links, units and scripts") {
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
       {"DRIVER  6.1.0 (next, running)", "ens192f0 (0000:0b:00.1): nobody will bring it up",
        "ens224f0 (0000:13:00.1): this agent\n", "slurmd.service: 8 MiB (systemd's default)",
        "none.service: no such unit", "/etc/rc.local loads or unloads the driver as well",
        "link-unowned: ", "boot-script: ", "LimitMEMLOCK=infinity",
        "The next boot takes 6.1.0: no other is installed."}) {
    INFO(part << " in\n" << seen.out);
    CHECK(seen.out.find(part) != std::string::npos);
  }
  // What is configured for an adapter that is not here is no link of this machine.
  CHECK(seen.out.find("00:50:56:00:00:99") == std::string::npos);
  CHECK(seen.err.empty());
}

TEST_CASE("next boot: a good machine has rows and no findings") {
  const Tree tree;
  captured(tree, "debian-12", "6.1.0-56-amd64");
  tree.file("/etc/security/limits.conf", "*\tsoft\tmemlock\tunlimited\n");
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

TEST_CASE("next boot: no kernel, what may not be read, a bad configuration") {
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
  tree.file("/etc/pvrdma-agent/pvrdma-agent.toml", "[modules]\nbefore = 3\n");
  CHECK(look(tree, false).code == 3);
}
