// SPDX-License-Identifier: GPL-2.0-or-later
// The running kernel's initramfs image compared with modprobe.d, on made-up roots.
#include <fcntl.h>
#include <sys/stat.h>

#include <ctime>

#include "probes/initramfs.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tree.hpp"

namespace pvrdma::probes {

namespace {

constexpr const char* kDebian = "/boot/initrd.img-6.1.0-test";
constexpr const char* kOurs = "/lib/modprobe.d/pvrdma-agent.conf";
constexpr const char* kHook = "/usr/share/initramfs-tools/hooks/pvrdma-agent";
constexpr const char* kOrder = "softdep vmw_pvrdma pre: ib_umad\n";

// A machine with the package installed; all files but images have the present time.
struct InitramfsFixture {
  test::Tree tree;

  InitramfsFixture() {
    tree.file(kOurs, kOrder);
    tree.file(kHook, "");
    tree.file("/etc/modprobe.d/other.conf", "blacklist pcspkr\n");
    tree.directory("/boot");
  }
  // An image built `hours` from now; negative: before now.
  void image(const std::string& path, int hours) const {
    tree.file(path, "");
    const timespec built{std::time(nullptr) + hours * 3600L, 0};
    const timespec times[2] = {built, built};
    REQUIRE(::utimensat(AT_FDCWD, (tree / path).c_str(), times, 0) == 0);
  }
  void note(const std::string& text) const { tree.file(kInitramfsNote, text); }
  Field<Initramfs> look() const { return look_at_initramfs(tree.root(), "6.1.0-test"); }
};

}  // namespace

TEST_CASE_METHOD(InitramfsFixture, "initramfs: none") {
  CHECK(look().is_absent());
  image("/boot/initrd.img-6.1.0-other", -1);
  CHECK(look().is_absent());
  tree.remove("/boot");
  CHECK(look().is_absent());
}

TEST_CASE_METHOD(InitramfsFixture, "initramfs: built after the package came") {
  image(kDebian, 1);
  CHECK(look().is(Initramfs{kDebian, ""}));
}

TEST_CASE_METHOD(InitramfsFixture, "initramfs: not refreshed when the package came") {
  image(kDebian, -1);
  REQUIRE(look().is_known());
  CHECK_FALSE(look().get()->older_than.empty());
  tree.remove(kOurs);
  CHECK(look().is(Initramfs{kDebian, kHook}));
  tree.remove(kHook);
  CHECK(look().is(Initramfs{kDebian, ""}));  // no line is about the driver
  tree.file(kOurs, kOrder);
  CHECK(look().is(Initramfs{kDebian, kOurs}));
}

TEST_CASE_METHOD(InitramfsFixture, "initramfs: an image without the driver is never too old") {
  image(kDebian, -1);
  note("");
  CHECK(look().is(Initramfs{kDebian, ""}));
}

TEST_CASE_METHOD(
    InitramfsFixture,
    "initramfs: the time of the installation counts, not those of the package's files") {
  image(kDebian, -1);
  note(kOrder);
  CHECK(look().is(Initramfs{kDebian, ""}));
}

TEST_CASE_METHOD(InitramfsFixture,
                 "initramfs: the configuration was changed since, and it was refreshed") {
  note(kOrder);
  image(kDebian, -1);
  tree.file("/etc/modprobe.d/mine.conf", "options vmw_pvrdma debug=1\n");
  REQUIRE(look().is_known());
  CHECK_FALSE(look().get()->older_than.empty());
  image(kDebian, 1);
  CHECK(look().is(Initramfs{kDebian, ""}));
}

TEST_CASE_METHOD(InitramfsFixture, "initramfs: a configuration removed since") {
  note(std::string{"options vmw_pvrdma debug=1\n"} + kOrder);
  image(kDebian, -1);
  CHECK(look().is(Initramfs{kDebian, kOurs}));
}

TEST_CASE_METHOD(InitramfsFixture,
                 "initramfs: the note has the hooks' order: /etc first, then by name") {
  tree.file("/etc/modprobe.d/b.conf", "options vmw_pvrdma b=1\n");
  tree.file("/etc/modprobe.d/a.conf", "options vmw_pvrdma a=1\n");
  tree.file("/etc/modprobe.d/.c.conf", "options vmw_pvrdma c=1\n");
  tree.file("/etc/modprobe.d/d.conf~", "options vmw_pvrdma d=1\n");
  image(kDebian, -1);
  note(std::string{"options vmw_pvrdma a=1\noptions vmw_pvrdma b=1\n"} + kOrder);
  CHECK(look().is(Initramfs{kDebian, ""}));
}

TEST_CASE_METHOD(InitramfsFixture, "initramfs: only the running kernel's note counts") {
  image(kDebian, -1);
  note(kOrder);
  tree.file("/proc/sys/kernel/osrelease", "6.1.0-other\n");
  REQUIRE(look().is_known());
  CHECK_FALSE(look().get()->older_than.empty());
  tree.file("/proc/sys/kernel/osrelease", "6.1.0-test\n");
  CHECK(look().is(Initramfs{kDebian, ""}));
}

TEST_CASE_METHOD(InitramfsFixture, "initramfs: SUSE's name of the image") {
  image("/boot/initrd-6.1.0-test", 1);
  CHECK(look().is(Initramfs{"/boot/initrd-6.1.0-test", ""}));
}

TEST_CASE_METHOD(InitramfsFixture, "initramfs: of two images the newer one") {
  image(kDebian, -2);
  image("/boot/initramfs-6.1.0-test.img", 2);
  CHECK(look().is(Initramfs{"/boot/initramfs-6.1.0-test.img", ""}));
  image(kDebian, 3);
  CHECK(look().is(Initramfs{kDebian, ""}));
}

TEST_CASE_METHOD(InitramfsFixture, "initramfs: an unreadable file does not count as old or new") {
  tree.unreadable(kDebian);
  CHECK(look().is_unreadable());
  tree.remove(kDebian);
  image(kDebian, -1);
  tree.unreadable("/etc/modprobe.d/loop.conf");
  CHECK(look().is_unreadable());
  tree.remove("/etc/modprobe.d/loop.conf");
  tree.unreadable(kInitramfsNote);
  CHECK(look().is_unreadable());
}

}  // namespace pvrdma::probes
