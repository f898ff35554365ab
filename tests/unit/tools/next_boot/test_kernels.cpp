// SPDX-License-Identifier: GPL-2.0-or-later
// Installed kernels, and the next one, on made-up roots.
#include <filesystem>

#include "agent/tools/next_boot/forecast.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tree.hpp"

namespace pvrdma::probes {

namespace {

using std::string_literals::operator""s;

constexpr const char* kNew = "6.1.0-18-amd64";
constexpr const char* kOld = "6.1.0-13-amd64";

struct KernelsFixture {
  test::Tree tree;

  void kernel(const std::string& release, const std::string& image) const {
    tree.file("/lib/modules/" + release + "/modules.dep.bin", "");
    if (!image.empty()) tree.file(image, "");
  }
  // Two kernels of Debian.
  void two() const {
    kernel(kNew, std::string{"/boot/vmlinuz-"} + kNew);
    kernel(kOld, std::string{"/boot/vmlinuz-"} + kOld);
  }
  [[nodiscard]] std::vector<KernelForecast> installed(const std::string& running = "") const {
    return installed_kernels(tree.root(), running).value();
  }
  [[nodiscard]] Field<NextKernel> next() const { return next_kernel(tree.root(), installed()); }
  void grub(const std::string& chosen, const std::string& folder = "/boot/grub") const {
    std::string text = "set default=\"" + chosen + "\"\n";
    for (const std::string release : {kNew, kOld})
      text.append("menuentry 'Linux ")
          .append(release)
          .append("' {\n\tlinux /boot/vmlinuz-")
          .append(release)
          .append(" ro\n}\n");
    tree.file(folder + "/grub.cfg", text);
  }
};

}  // namespace

TEST_CASE_METHOD(KernelsFixture, "kernels: none") {
  CHECK(installed().empty());
  CHECK(next().is_absent());
}

TEST_CASE_METHOD(KernelsFixture, "kernels: a module index and an image make one") {
  two();
  kernel("6.1.0-left-over", "");
  tree.file("/boot/vmlinuz-6.1.0-no-modules", "");
  tree.file("/lib/modules/6.1.0-no-index/modules.order", "");
  tree.file("/boot/vmlinuz-6.1.0-no-index", "");
  CHECK(installed() == std::vector<KernelForecast>{{kOld, "/boot/vmlinuz-6.1.0-13-amd64"s},
                                                   {kNew, "/boot/vmlinuz-6.1.0-18-amd64"s}});
  const auto with_running = installed("6.1.0-left-over");
  REQUIRE(with_running.size() == 3);
  CHECK(with_running.back() == KernelForecast{"6.1.0-left-over", {}, true});
}

TEST_CASE_METHOD(KernelsFixture,
                 "kernels: an image may lie next to the modules, or in kernel-install's place") {
  kernel("5.14.0-el9", "/lib/modules/5.14.0-el9/vmlinuz");
  kernel("6.8.0", "/efi/0123/6.8.0/linux");
  CHECK(installed() ==
        std::vector<KernelForecast>{{"5.14.0-el9", "/lib/modules/5.14.0-el9/vmlinuz"s}});
  tree.directory("/boot");
  tree.file("/etc/machine-id", "0123\n");
  CHECK(installed().back() == KernelForecast{"6.8.0", "/efi/0123/6.8.0/linux"s});
}

TEST_CASE_METHOD(KernelsFixture, "kernels: with an unreadable /boot the image is unknown") {
  kernel(kNew, "");
  tree.unreadable("/boot");
  REQUIRE(installed().size() == 1);
  CHECK(installed().front().image.is_unreadable());
  tree.remove("/lib/modules");
  tree.unreadable("/lib/modules");
  CHECK_FALSE(installed_kernels(tree.root(), "").has_value());
}

TEST_CASE_METHOD(KernelsFixture, "next kernel: the only one, or Debian's link") {
  kernel(kOld, "/boot/vmlinuz-6.1.0-13-amd64");
  CHECK(next().is({kOld, "the only one installed"}));
  kernel(kNew, "/boot/vmlinuz-6.1.0-18-amd64");
  CHECK(next().is_absent());
  tree.link("/vmlinuz", "boot/vmlinuz-6.1.0-13-amd64");
  CHECK(next().is({kOld, "the link /vmlinuz"}));
  tree.remove("/vmlinuz");
  tree.link("/boot/vmlinuz", "vmlinuz-6.1.0-18-amd64");
  CHECK(next().is({kNew, "the link /boot/vmlinuz"}));
}

TEST_CASE_METHOD(KernelsFixture, "next kernel: GRUB's default comes before Debian's link") {
  two();
  tree.link("/vmlinuz", "boot/vmlinuz-6.1.0-13-amd64");
  grub("0");
  CHECK(next().is({kNew, "default in /boot/grub/grub.cfg", "ro"}));
  grub("Linux 6.1.0-13-amd64");
  CHECK(next().is({kOld, "default in /boot/grub/grub.cfg", "ro"}));
  grub("gone");
  CHECK(next().is_absent());
}

TEST_CASE_METHOD(KernelsFixture, "next kernel: GRUB's saved entry, and one for a single boot") {
  two();
  grub("${saved_entry}");
  CHECK(next().is({kNew, "default in /boot/grub/grub.cfg", "ro"}));
  tree.file("/boot/grub/grubenv", "# GRUB Environment Block\nsaved_entry=1\n");
  CHECK(next().is({kOld, "saved_entry in /boot/grub/grubenv", "ro"}));
  tree.file("/boot/grub/grubenv", "saved_entry=1\nnext_entry=Linux 6.1.0-18-amd64\n");
  CHECK(next().is({kNew, "next_entry in /boot/grub/grubenv", "ro"}));
  // An administrator's custom.cfg may set another default.
  tree.file("/boot/grub/custom.cfg", "set default=1\n");
  CHECK(next().is_absent());
}

TEST_CASE_METHOD(KernelsFixture,
                 "next kernel: after boots that have failed it may be another one") {
  two();
  grub("${saved_entry}");
  tree.file("/boot/grub/grubenv", "saved_entry=1\nboot_success=0\nboot_counter=1\n");
  CHECK(next().is_known());
  tree.file("/boot/grub/grubenv", "saved_entry=1\nboot_success=0\nboot_counter=0\n");
  CHECK_FALSE(next().is_known());
}

TEST_CASE_METHOD(KernelsFixture, "next kernel: unreadable files of GRUB") {
  two();
  tree.link("/vmlinuz", "boot/vmlinuz-6.1.0-13-amd64");
  grub("${saved_entry}");
  tree.unreadable("/boot/grub/grubenv");
  CHECK(next().is_unreadable());
  tree.remove("/boot/grub");
  tree.unreadable("/boot/grub/grub.cfg");
  CHECK(next().is_unreadable());
}

TEST_CASE_METHOD(KernelsFixture, "next kernel: entries of Enterprise Linux") {
  two();
  const std::string folder = "/boot/loader/entries/";
  tree.file(folder + "ab-new.conf", "title new\nlinux /vmlinuz-6.1.0-18-amd64\noptions ro\n");
  tree.file(folder + "ab-old.conf",
            "title old\nlinux /vmlinuz-6.1.0-13-amd64\noptions $kernelopts quiet\n");
  tree.file("/boot/grub2/grub.cfg", "set default=\"${saved_entry}\"\nblscfg\n");
  // GRUB sorts these entries by its own rules, so a number does not tell the entry.
  CHECK(next().is_absent());
  tree.file("/boot/grub2/grubenv", "saved_entry=ab-old\nkernelopts=root=/dev/sda3 ro\n");
  CHECK(next().is({kOld, "saved_entry in /boot/grub2/grubenv", "root=/dev/sda3 ro quiet"}));
  // EL 8 boots by EFI: its grub.cfg is elsewhere.
  tree.remove("/boot/grub2/grub.cfg");
  CHECK(next().is({kOld, "saved_entry in /boot/grub2/grubenv", "root=/dev/sda3 ro quiet"}));
  tree.file("/boot/grub2/grubenv", "saved_entry=0\n");
  CHECK(next().is_absent());
  tree.remove(folder + "ab-new.conf");
  CHECK(next().is({kOld, "saved_entry in /boot/grub2/grubenv", " quiet"}));
}

TEST_CASE_METHOD(KernelsFixture, "next kernel: Photon's link") {
  two();
  tree.file(
      "/boot/grub2/grub.cfg",
      "set default=0\nmenuentry \"Photon\" {\n    linux $rootpartition/$photon_linux root=x\n}\n");
  tree.file(
      "/boot/linux-6.1.0-13-amd64.cfg",
      "# GRUB Environment Block\nphoton_cmdline=ro quiet\nphoton_linux=vmlinuz-6.1.0-13-amd64\n");
  CHECK(next().is_absent());
  tree.link("/boot/photon.cfg", "linux-6.1.0-13-amd64.cfg");
  CHECK(next().is({kOld, "photon_linux in /boot/photon.cfg", "ro quiet"}));
}

}  // namespace pvrdma::probes
