// SPDX-License-Identifier: GPL-2.0-or-later
// An image with absolute links to paths that this machine has too: the image's files are read, and
// a link that leads out of the image finds nothing.
#include <sys/stat.h>

#include <algorithm>

#include "agent/tools/doctor/survey_probe.hpp"
#include "agent/tools/next_boot/forecast.hpp"
#include "agent/tools/next_boot/initramfs_content.hpp"
#include "agent/tools/seal/template.hpp"
#include "agent/tools/survey/link_files.hpp"
#include "agent/tools/survey/unit_files.hpp"
#include "probes/initramfs.hpp"
#include "probes/link_owner.hpp"
#include "probes/module_lookup.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/cpio.hpp"
#include "tests/unit/module_blocks.hpp"
#include "tests/unit/places.hpp"
#include "tests/unit/tree.hpp"

#include <archive.h>

namespace pvrdma::probes {

namespace {

// A folder next to the image stands for this machine: links of the image name it by its whole path.
struct ImageFixture {
  test::Tree host;
  test::Tree image;
  // Makes a link in the image to the path of a file that only the host has.
  void leak(const std::string& link, const std::string& content) const {
    host.file(link, content);
    image.link(link, host / link);
  }
  // Makes a link in the image to a path that image and host have, with different content.
  void inner(const std::string& link, const std::string& target, const std::string& content) const {
    image.file(target, content);
    image.link(link, target);
  }
  [[nodiscard]] Root root() const { return image.root(); }
};

using test::blocks_of;

}  // namespace

TEST_CASE_METHOD(ImageFixture, "inside: modprobe.d") {
  leak("/etc/modprobe.d/leak.conf", "blacklist vmw_pvrdma\nsoftdep vmw_pvrdma pre: leaked\n");
  inner("/etc/modprobe.d/good.conf", "/etc/fstab", "blacklist rdma_cm\nsoftdep vmw_pvrdma pre: a");
  leak("/usr/lib/modprobe.d", "a file");
  const auto blocks = blocks_of(root(), {"vmw_pvrdma", "rdma_cm"});
  REQUIRE(blocks.is_known());
  REQUIRE(blocks.get()->size() == 1);
  CHECK(blocks.get()->front().module == "rdma_cm");
  CHECK(
      driver_predecessors(read_modprobe_config(places::module_lookup, root(), ModprobeOf::NextBoot))
          .is(std::vector<std::string>{"a"}));
  // A whole folder is a link to the host.
  image.remove("/etc/modprobe.d");
  host.file("/etc/modprobe.d/x.conf", "blacklist vmw_pvrdma\n");
  image.link("/etc/modprobe.d", host / "/etc/modprobe.d");
  CHECK(blocks_of(root(), {"vmw_pvrdma"}).get()->empty());
  CHECK(driver_configuration(root()).value_or("not read").empty());
}

TEST_CASE_METHOD(ImageFixture, "inside: modprobe.d is merged by name and masked as by libkmod") {
  image.file("/lib/modprobe.d/a.conf", "blacklist vmw_pvrdma\n");
  image.file("/lib/modprobe.d/b.conf", "blacklist rdma_cm \\");
  image.file("/lib/modprobe.d/c.conf", "blacklist rdma_ucm\n");
  image.file("/lib/modprobe.d/d.txt", "blacklist ib_umad\n");
  image.link("/etc/modprobe.d/a.conf", "/dev/null");
  const auto blocks = blocks_of(root(), {"vmw_pvrdma", "rdma_cm", "rdma_ucm", "ib_umad"});
  REQUIRE(blocks.is_known());
  std::vector<std::string> modules;
  for (const ModuleBlock& block : *blocks.get()) modules.push_back(block.module);
  CHECK(modules == std::vector<std::string>{"rdma_cm", "rdma_ucm"});
  image.unreadable("/lib/modprobe.d/e.conf");
  CHECK(blocks_of(root(), {"vmw_pvrdma"}).is_unreadable());
}

TEST_CASE_METHOD(ImageFixture, "inside: kernels and the files of a boot loader") {
  host.file("/lib/modules/6.9-host/modules.dep.bin", "x");
  image.link("/lib/modules/6.9-host", host / "/lib/modules/6.9-host");
  image.file("/usr/lib/modules/6.1/modules.dep.bin", "x");
  image.link("/lib/modules/6.1", "/usr/lib/modules/6.1");
  leak("/boot/vmlinuz-6.1", "kernel");
  auto kernels = installed_kernels(root(), "");
  REQUIRE(kernels);
  CHECK(kernels->empty());
  image.remove("/boot");
  image.file("/big/vmlinuz-6.1", "kernel");
  image.link("/boot", "/big");
  kernels = installed_kernels(root(), "");
  REQUIRE(kernels);
  REQUIRE(kernels->size() == 1);
  CHECK(kernels->front().image.is("/boot/vmlinuz-6.1"));
  image.link("/vmlinuz", "/boot/vmlinuz-6.1");
  const auto next = next_kernel(root(), *kernels);
  REQUIRE(next.is_known());
  CHECK(next.get()->release == "6.1");
  CHECK(next.get()->by == "the link /vmlinuz");
}

TEST_CASE_METHOD(ImageFixture, "inside: the initramfs image") {
  const std::string bytes = test::cpio({{"lib/modules/1/vmw_pvrdma.ko", "x"}}, ARCHIVE_FILTER_NONE);
  const Milliseconds patience = std::chrono::seconds{20};
  leak("/boot/initrd.img-6.1", bytes);
  CHECK(look_at_initramfs(root(), "6.1").is_absent());
  CHECK(run_initramfs_content(places::initramfs_content, root() / "/boot/initrd.img-6.1", patience)
            .error()
            .code == ENOENT);
  inner("/boot/initrd.img-6.2", "/big/initrd", bytes);
  CHECK(look_at_initramfs(root(), "6.2").is_known());
  const auto content =
      run_initramfs_content(places::initramfs_content, root() / "/boot/initrd.img-6.2", patience);
  REQUIRE(content);
  CHECK(content->modules == std::set<std::string>{"vmw_pvrdma"});
}

TEST_CASE_METHOD(ImageFixture, "inside: the index of modules") {
  leak("/lib/modules/6.1/modules.dep.bin", "x");
  CHECK(look_up_shipped(places::module_lookup, root(), "6.1", {"vmw_pvrdma"})
            .front()
            .shipped.is_unreadable());
  image.file("/lib/modules/6.2/modules.dep.bin", "x");
  leak("/lib/modules/6.2/modules.alias.bin", "x");
  CHECK(look_up_shipped(places::module_lookup, root(), "6.2", {"vmw_pvrdma"})
            .front()
            .shipped.error()
            ->code == EINVAL);
  host.file("/lib/modules/6.3/modules.dep.bin", "x");
  image.link("/lib/modules/6.3", host / "/lib/modules/6.3");
  CHECK(look_up_shipped(places::module_lookup, root(), "6.3", {"vmw_pvrdma"})
            .front()
            .shipped.error()
            ->code == ENOENT);
}

TEST_CASE_METHOD(ImageFixture, "inside: units") {
  const std::string service = "[Service]\nLimitMEMLOCK=1M\n";
  leak("/etc/systemd/system/leak.service", service);
  host.file("/lib/systemd/system/multi-user.target.wants/a.service", service);
  image.link("/lib/systemd/system", host / "/lib/systemd/system");
  inner("/etc/systemd/system/alias.service", "/opt/units/real.service", service);
  image.file("/etc/systemd/system/real.service.d/1.conf", "[Service]\nLimitMEMLOCK=2M\n");
  CHECK_FALSE(unit_memlock_on_disk(root(), "leak").limit.is_unreadable());
  CHECK(unit_memlock_on_disk(root(), "leak").limit.get()->place == "systemd's default");
  CHECK(unit_memlock_on_disk(root(), "alias").limit.get()->place ==
        "/etc/systemd/system/real.service.d/1.conf:2");
  CHECK(unit_file(root(), "a.service").is_absent());
  image.link("/etc/systemd/system/masked.service", "/run/../dev/null");
  CHECK(unit_file(root(), "masked.service").get()->masked);
}

TEST_CASE_METHOD(ImageFixture, "inside: network configuration") {
  image.file("/sbin/ifup", "");
  host.file("/interfaces.d/eth0", "iface eth0 inet dhcp\n");
  image.file("/etc/network/interfaces",
             "source " + (host / "/interfaces.d/*").string() + "\nsource interfaces.d/*\n");
  image.link("/etc/network/interfaces.d", host / "/interfaces.d");
  CHECK(ifupdown_owner(root(), "eth0").is_absent());
  image.remove("/etc/network/interfaces.d");
  image.file("/opt/interfaces.d/eth0", "iface eth0 inet dhcp\n");
  image.link("/etc/network/interfaces.d", "/opt/interfaces.d");
  const auto owner = ifupdown_owner(root(), "eth0");
  REQUIRE(owner.is_known());
  CHECK(owner.get()->file == "/etc/network/interfaces.d/eth0");
}

TEST_CASE_METHOD(ImageFixture, "inside: the traces that seal finds") {
  leak("/etc/machine-id", "0123456789abcdef0123456789abcdef\n");
  leak("/etc/netplan/leak.yaml", "macaddress: 00:50:56:00:00:01\n");
  inner("/etc/netplan/good.yaml", "/opt/good.yaml", "macaddress: 00:50:56:00:00:02\n");
  const Traces traces = find_traces(root(), Config{}, {}, places::module_lookup);
  REQUIRE(traces.found.size() == 1);
  CHECK(traces.found.front().path == "/etc/netplan/good.yaml");
  CHECK(traces.found.front().what == "00:50:56:00:00:02");
}

TEST_CASE_METHOD(ImageFixture, "inside: verbs libraries") {
  leak("/usr/lib/libibverbs.so.1", "IBVERBS_PRIVATE_34");
  host.file("/opt/host.conf", "/opt/host\n");
  image.file("/etc/ld.so.conf", "include " + (host / "/opt/*.conf").string() + "\n");
  image.file("/lib64/libibverbs.so.1", "IBVERBS_PRIVATE_50");
  image.link("/usr/lib64", "/lib64");
  const auto libraries = look_at_verbs_libraries(root(), "");
  REQUIRE(libraries.is_known());
  REQUIRE(libraries.get()->verbs.size() == 1);
  CHECK(libraries.get()->verbs.front().path == "/lib64/libibverbs.so.1");
}

}  // namespace pvrdma::probes
