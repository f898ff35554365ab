// SPDX-License-Identifier: GPL-2.0-or-later
// Files that are not read, and folders that do not count: no regular files, and those that others
// can change.
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "tests/unit/as_nobody.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/config/config_tree.hpp"

using namespace pvrdma;
using pvrdma::test::ConfigTree;
using pvrdma::test::kMain;

TEST_CASE("things that are no regular files") {
  ConfigTree tree;
  SECTION("a directory") {
    std::filesystem::create_directories(tree / kMain);
    CHECK(tree.complaint() == std::string{kMain} + ": is a directory, not a file");
  }
  SECTION("a FIFO, which must not be waited for") {
    tree.file("/etc/pvrdma-agent/x", "");
    REQUIRE(::mkfifo((tree / kMain).c_str(), 0600) == 0);
    CHECK(tree.complaint() == std::string{kMain} + ": is not a regular file");
  }
  SECTION("too large") {
    tree.file(kMain, pvrdma::test::lines_of_bytes(pvrdma::kConfigLimitBytes + 1));
    CHECK(tree.complaint() == std::string{kMain} + ": is larger than 64 KiB");
  }
  SECTION("as large as allowed") {
    tree.file(kMain, pvrdma::test::lines_of_bytes(pvrdma::kConfigLimitBytes));
    CHECK(tree.complaint().empty());
  }
  SECTION("not readable by the agent, which is not root") {
    tree.file(kMain, "");
    REQUIRE(::chmod((tree / "/").c_str(), 0755) == 0);
    REQUIRE(::chmod((tree / kMain).c_str(), 0600) == 0);
    const test::AsNobody agent;
    CHECK(tree.complaint() == std::string{kMain} +
                                  ": cannot be read: Permission denied; the agent is not root: it "
                                  "needs o+r, its folders o+x");
  }
  SECTION("a drop-in directory that is a file has no drop-ins") {
    tree.file("/etc/pvrdma-agent/pvrdma-agent.toml.d", "");
    CHECK(tree.complaint().empty());
  }
}

TEST_CASE("the daemon's own folder is no configuration folder") {
  ConfigTree tree;
  tree.file("/run/pvrdma-agent/pvrdma-agent.toml", "[modules]\nreload = \"always\"\n");
  tree.file("/run/pvrdma-agent/pvrdma-agent.toml.d/1.toml", "not toml");
  const auto loaded = tree.load();
  REQUIRE(loaded);
  CHECK(loaded->config == Config{});
}

TEST_CASE("links are not followed, wherever they lead") {
  ConfigTree tree;
  tree.file("/managed/pvrdma-agent.toml", "secret");
  tree.file("/managed/pvrdma-agent.toml.d/1.toml", "secret");
  const auto complaint_of = [](const std::string& link, const std::string& file) {
    return file + ": " + (link == file ? "" : link + " ") +
           "is a symbolic link, which is not followed, so it is not read: t=$(readlink -f " + link +
           ") && rm " + link + " && cp -rL \"$t\" " + link;
  };
  const char* folder =
      GENERATE("/etc/pvrdma-agent", "/run/pvrdma-agent-config", "/usr/lib/pvrdma-agent");
  const std::string main = std::string{folder} + "/pvrdma-agent.toml";
  SECTION("of a main file") {
    const char* target = GENERATE("/managed/pvrdma-agent.toml", "../../managed/pvrdma-agent.toml",
                                  "/etc/shadow", "/nowhere", "pvrdma-agent.toml");
    tree.link(main, target);
    CHECK(tree.complaint() == complaint_of(main, main));
  }
  SECTION("of a drop-in") {
    tree.link(main + ".d/1.toml", "/managed/pvrdma-agent.toml.d/1.toml");
    CHECK(tree.complaint() == complaint_of(main + ".d/1.toml", main + ".d/1.toml"));
  }
  SECTION("of the drop-ins' folder") {
    tree.link(main + ".d", "/managed/pvrdma-agent.toml.d");
    CHECK(tree.complaint() == complaint_of(main + ".d", main + ".d"));
  }
  SECTION("of the folder") {
    tree.link(folder, "/managed");
    CHECK(tree.complaint() == complaint_of(folder, main + ".d"));
  }
}

namespace {

// Lets uid 7 write this by an ACL; false: the file system has none.
bool grant_writing(const std::string& path) {
  struct Entry {
    std::uint16_t tag;
    std::uint16_t permissions;
    std::uint32_t id;
  };
  // As in linux/posix_acl_xattr.h, which is not for C++; numbers are little-endian.
  constexpr std::uint32_t kNone = 0xffffffff;
  const struct {
    std::uint32_t version = 2;
    std::array<Entry, 5> entries{
        {{0x01, 6, kNone}, {0x02, 6, 7}, {0x04, 4, kNone}, {0x10, 6, kNone}, {0x20, 4, kNone}}};
  } acl;
  if (::setxattr(path.c_str(), "system.posix_acl_access", &acl, sizeof acl, 0) == 0) return true;
  REQUIRE(errno == ENOTSUP);
  return false;
}

}  // namespace

TEST_CASE("the command in a complaint repairs the fault") {
  if (::geteuid() != 0) return;  // only root can give files away
  ConfigTree tree;
  tree.file(kMain, "[readiness]\nadapters = 3\n");
  const std::string drop_in = std::string{kMain} + ".d/1.toml";
  tree.file(drop_in, "[readiness]\ntimeout = \"3s\"\n");
  const std::string folder = "/etc/pvrdma-agent";
  const auto give = [&](const std::string& path, unsigned owner, unsigned group, unsigned mode) {
    REQUIRE(::chown((tree / path).c_str(), owner, group) == 0);
    REQUIRE(::chmod((tree / path).c_str(), mode) == 0);
  };
  std::string why;
  SECTION("another user's file") {
    give(kMain, 7, 0, 0644);
    why = ": belongs to uid 7, not to root, so it is not read: chown root:root ";
  }
  SECTION("another user's file, writable by all") {
    give(kMain, 7, 0, 0666);
    why = ": belongs to uid 7, not to root, so it is not read: chown root:root ";
  }
  SECTION("a file writable by its group") {
    give(kMain, 0, 4, 0664);
    why = ": can be written by others than root, so it is not read: chmod go-w ";
  }
  SECTION("a file of root's group, writable by another user's entry in its ACL") {
    give(kMain, 0, 0, 0644);
    if (!grant_writing(tree / kMain)) return;
    why = ": can be written by others than root (ACL), so it is not read: chmod go-w ";
  }
  SECTION("a drop-in writable by all") {
    give(drop_in, 0, 0, 0646);
    why = ": can be written by others than root, so it is not read: chmod go-w ";
  }
  SECTION("another user's folder") {
    give(folder, 7, 7, 0755);
    why = ".d: " + (tree / folder).string() +
          " belongs to uid 7, not to root, so it is not read: chown root:root ";
  }
  SECTION("a sticky folder") {
    give(folder, 0, 0, 01777);
    why = ".d: " + (tree / folder).string() +
          " can be written by others than root, so it is not read: chmod go-w ";
  }
  SECTION("another user's folder of drop-ins") {
    give(std::string{kMain} + ".d", 7, 0, 0755);
    why = ".d: belongs to uid 7, not to root, so it is not read: chown root:root ";
  }
  SECTION("a link") {
    tree.file("/managed.toml", "[readiness]\nadapters = 3\n");
    tree.remove(kMain);
    tree.link(kMain, (tree / "/managed.toml").string());
    why = ": is a symbolic link, which is not followed, so it is not read: ";
  }
  SECTION("a link in place of the folder") {
    std::filesystem::rename(tree / folder, tree / "/managed");
    tree.link(folder, (tree / "/managed").string());
    why = " is a symbolic link, which is not followed, so it is not read: ";
  }
  const auto loaded = tree.load();
  REQUIRE_FALSE(loaded);
  const std::string line = loaded.error().message();
  CAPTURE(line);
  CHECK(line.find(why) != std::string::npos);
  const std::string before = "so it is not read: ";
  const std::string command = line.substr(line.find(before) + before.size());
  REQUIRE(std::system(command.c_str()) == 0);  // NOLINT(cert-env33-c)
  const auto mended = tree.load();
  REQUIRE(mended);
  CHECK(mended->config.readiness.adapters == 3U);
  CHECK(mended->config.readiness.timeout == std::chrono::seconds{3});
}
