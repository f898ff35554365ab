// SPDX-License-Identifier: GPL-2.0-or-later
// Initramfs images of cpio archives, stacked and compressed in the ways of distributions.
#include <archive.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "agent/base/program.hpp"
#include "agent/tools/next_boot/initramfs_content.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/cpio.hpp"
#include "tests/unit/places.hpp"
#include "tests/unit/tree.hpp"

namespace pvrdma::probes {

namespace {

const std::map<std::string, std::string> kMicrocode{
    {"kernel/x86/microcode/GenuineIntel.bin", std::string(5000, 'm')}};
const std::map<std::string, std::string> kModules{
    {"usr/lib/modules/6.1.0/kernel/drivers/infiniband/hw/vmw_pvrdma/vmw_pvrdma.ko.zst", "x"},
    {"usr/lib/modules/6.1.0/kernel/drivers/infiniband/core/ib-umad.ko", "x"},
    {"usr/lib/modules/6.1.0/modules.dep", "x"}};
const std::map<std::string, std::string> kRest{
    {"lib/modprobe.d/pvrdma-agent.conf", "softdep vmw_pvrdma pre: a\n"},
    {"./etc/modprobe.d/z.conf", "options vmw_pvrdma x=1\n"},
    {"etc/modprobe.d/other.conf", "blacklist pcspkr\n"},
    {"etc/modprobe.d/0-pvrdma-agent-image.conf", "softdep vmw_pvrdma pre: ours\n"},
    {"etc/modprobe.d/a.conf.bak", "vmw_pvrdma\n"}};
const std::string kZeros(700, '\0');

struct InitramfsContentFixture {
  test::Tree tree;
  [[nodiscard]] Result<InitramfsContent> read(const std::string& bytes) const {
    tree.file("/boot/initrd", bytes);
    return reread();
  }
  [[nodiscard]] Result<InitramfsContent> reread() const {
    const auto image = open_rooted(tree.root() / "/boot/initrd", O_RDONLY);
    return image ? read_initramfs(image->get()) : Result<InitramfsContent>{fail(image.error())};
  }
};

// Runs in a process of its own. Returns the number of a right that it still has; 0: none.
int right_that_is_left(int open_file) {
  const bool was_root = ::geteuid() == 0;
  ::signal(SIGXFSZ, SIG_IGN);
  if (!give_up_rights()) return 1;
  uid_t real = 0, effective = 0, saved = 0;
  if (::getresuid(&real, &effective, &saved) != 0 || real == 0 || effective == 0 || saved == 0)
    return 2;
  if (was_root && (::getegid() == 0 || ::getgroups(0, nullptr) > 0)) return 3;
  if (::setuid(0) == 0) return 4;
  if (::open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0 || errno != EMFILE) return 5;
  if (::write(open_file, "x", 1) >= 0 || errno != EFBIG) return 6;
  if (const pid_t another = ::fork(); another >= 0) return another == 0 ? 0 : 7;
  return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : 8;
}

}  // namespace

TEST_CASE_METHOD(InitramfsContentFixture, "the sums of an image's texts and names are bounded") {
  std::map<std::string, std::string> files;
  for (char name = 'a'; name <= 'd'; ++name)
    files[std::string{"etc/modprobe.d/"} + name + ".conf"] =
        "options vmw_pvrdma x=1\n" + std::string(300'000, '#');
  CHECK(read(test::cpio(files, ARCHIVE_FILTER_GZIP)).error().code == EFBIG);
  files.erase("etc/modprobe.d/d.conf");
  CHECK(read(test::cpio(files, ARCHIVE_FILTER_GZIP)));
  files.clear();
  for (unsigned number = 0; number < 1100; ++number)
    files["lib/modules/" + std::to_string(number) + std::string(4000, 'x') + ".ko"] = "";
  CHECK(read(test::cpio(files, ARCHIVE_FILTER_GZIP)).error().code == EFBIG);
}

TEST_CASE_METHOD(InitramfsContentFixture,
                 "initramfs content: archives one behind the other, the last compressed") {
  for (const int filter : {ARCHIVE_FILTER_NONE, ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_XZ,
                           ARCHIVE_FILTER_LZ4, ARCHIVE_FILTER_ZSTD, ARCHIVE_FILTER_BZIP2}) {
    INFO("filter " << filter);
    const auto content =
        read(test::cpio(kMicrocode, ARCHIVE_FILTER_NONE) + kZeros +
             test::cpio(kModules, ARCHIVE_FILTER_NONE) + test::cpio(kRest, filter));
    REQUIRE(content.has_value());
    CHECK(content->modules == std::set<std::string>{"ib_umad", "vmw_pvrdma"});
    CHECK(content->configuration == "options vmw_pvrdma x=1\nsoftdep vmw_pvrdma pre: a\n");
  }
}

TEST_CASE_METHOD(InitramfsContentFixture, "initramfs content: by the installed program") {
  tree.file("/boot/initrd",
            test::cpio(kModules, ARCHIVE_FILTER_NONE) + test::cpio(kRest, ARCHIVE_FILTER_ZSTD));
  const Milliseconds patience = std::chrono::seconds{20};
  const auto content =
      run_initramfs_content(places::initramfs_content, tree.root() / "/boot/initrd", patience);
  REQUIRE(content.has_value());
  CHECK(*content == reread().value());
  CHECK(run_initramfs_content(places::initramfs_content, tree.root() / "/none", patience)
            .error()
            .code == ENOENT);
  tree.file("/boot/initrd", "no archive at all\n");
  const Error error =
      run_initramfs_content(places::initramfs_content, tree.root() / "/boot/initrd", patience)
          .error();
  CHECK(error.code == EREMOTEIO);
  CHECK(error.message().find("/boot/initrd") != std::string::npos);
}

TEST_CASE_METHOD(InitramfsContentFixture,
                 "initramfs content: the length of a name is not believed beyond half a gigabyte") {
  tree.file("/boot/initrd", "070701" + std::string(8 * 11, '0') + "7fffffff" + "00000000name");
  const auto content = run_initramfs_content(
      places::initramfs_content, tree.root() / "/boot/initrd", std::chrono::seconds{20});
  REQUIRE_FALSE(content);
  // The error is the lack of memory, not the early end of the file.
  CHECK(content.error().message().find("the image: Bad message") == std::string::npos);
}

TEST_CASE("initramfs content: the unpacker is not root, and opens, writes and starts nothing") {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(right_that_is_left(::fileno(file)));
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  std::fclose(file);
}

TEST_CASE_METHOD(InitramfsContentFixture,
                 "initramfs content: a program that prints nothing, or something else") {
  tree.file("/boot/initrd", "x");
  const auto run = [&](const std::string& script, Milliseconds patience) {
    tree.program("/reader", script);
    return run_initramfs_content(tree / "/reader", tree.root() / "/boot/initrd", patience).error();
  };
  CHECK(run("exit 0\n", std::chrono::seconds{20}).code == EBADMSG);
  CHECK(run("echo module x\n", std::chrono::seconds{20}).code == EBADMSG);
  CHECK(run("echo something else; echo configuration\n", std::chrono::seconds{20}).code == EBADMSG);
  CHECK(run("echo configuration; exit 1\n", std::chrono::seconds{20}).code == EREMOTEIO);
  CHECK(run("exec sleep 60\n", Milliseconds{50}).code == ETIMEDOUT);
  const std::string killed = run("kill -KILL $$\n", std::chrono::seconds{20}).message();
  CHECK(killed.find("/boot/initrd (signal 9)") != std::string::npos);
  CHECK(parse_initramfs_content("module a\nmodule b\nconfiguration\nmodule c\n").value() ==
        InitramfsContent{{"a", "b"}, "module c\n"});
}

TEST_CASE_METHOD(InitramfsContentFixture,
                 "initramfs content: one compressed archive without the driver") {
  const auto content = read(test::cpio({{"usr/bin/sh", "x"}}, ARCHIVE_FILTER_ZSTD));
  REQUIRE(content.has_value());
  CHECK(content->modules.empty());
  CHECK(content->configuration.empty());
}

TEST_CASE_METHOD(InitramfsContentFixture,
                 "initramfs content: a cut-off image, or none, is an error") {
  CHECK(read("no archive at all\n").error().code == EBADMSG);
  const std::string whole = test::cpio(kModules, ARCHIVE_FILTER_NONE);
  CHECK_FALSE(read(whole.substr(0, whole.size() / 2)).has_value());
  const std::string packed = test::cpio(kRest, ARCHIVE_FILTER_GZIP);
  CHECK_FALSE(read(packed.substr(0, packed.size() / 2)).has_value());
  CHECK(read("").value().modules.empty());
}

}  // namespace pvrdma::probes
