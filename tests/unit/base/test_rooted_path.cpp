// SPDX-License-Identifier: GPL-2.0-or-later
// On real folders and links. Files of other users than root belong to uid 1 here, so this needs
// root.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "agent/base/file.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tree.hpp"

namespace pvrdma {

namespace {

int code_of(const test::Tree& tree, const std::string& path, const Trust& trust) {
  const auto text = read_file(tree.root() / path, kReadLimitBytes, trust);
  return text ? 0 : text.error().code;
}

TEST_CASE("links of an image lead to paths in the image") {
  const test::Tree tree;
  tree.file("/etc/rc.d/rc.local", "inside");
  tree.link("/etc/relative", "rc.d/rc.local");
  tree.link("/etc/absolute", "/etc/rc.d/rc.local");
  tree.link("/etc/above", "../../../../../../../../etc/rc.d/rc.local");
  tree.link("/folder", "/etc/rc.d");
  tree.link("/outside", "/etc/passwd");
  for (const char* path : {"/etc/relative", "/etc/absolute", "/etc/above", "/folder/rc.local",
                           "/etc/../etc/./relative"})
    CHECK(read_file(tree.root() / path).value_or("") == "inside");
  CHECK(read_file(tree.root() / "/outside").error().code == ENOENT);
  CHECK(read_file(tree.root() / "/etc/../../etc/passwd").error().code == ENOENT);
  CHECK(list_directory(tree.root() / "/folder").value_or(std::vector<std::string>{}) ==
        std::vector<std::string>{"rc.local"});
  CHECK(link_target_name(tree.root() / "/folder").value_or("") == "rc.d");
  CHECK(status_of(tree.root() / "/outside").error().code == ENOENT);
  CHECK(S_ISLNK(status_of(tree.root() / "/outside", FinalLink::Shown)->st_mode));
}

TEST_CASE("circular links, files in place of folders, and a FIFO are errors") {
  const test::Tree tree;
  tree.unreadable("/circle");
  tree.file("/file", "");
  REQUIRE(::mkfifo((tree / "/fifo").c_str(), 0600) == 0);
  CHECK(code_of(tree, "/circle", {}) == ELOOP);
  CHECK(code_of(tree, "/file/inner", {}) == ENOTDIR);
  tree.file("/inner", "");
  CHECK(open_rooted_parent(tree.root() / "/file/inner").error().code == ENOTDIR);
  CHECK(status_of(tree.root() / "/file/inner", FinalLink::Shown).error().code == ENOTDIR);
  CHECK(code_of(tree, "/fifo", {}) == 0);
  CHECK(code_of(tree, "/fifo", kTrusted) == EINVAL);
}

TEST_CASE("a device of an image is not opened, but the null device is") {
  const Root image{"/dev"};
  CHECK(open_rooted(image / "/zero", O_RDONLY).error().code == EINVAL);
  CHECK(read_file(image / "/zero").error().code == EINVAL);
  CHECK(open_rooted(image / "/zero", O_PATH));
  CHECK(read_file(image / "/null").value_or("unreadable").empty());
  CHECK(open_rooted(Root{} / "/dev/zero", O_RDONLY));
}

TEST_CASE("only a file that root alone can have written is trusted") {
  const test::Tree tree;
  tree.file("/etc/file", "good");
  tree.link("/etc/link", "file");
  tree.link("/linked", "etc");
  CHECK(code_of(tree, "/etc/file", kTrusted) == 0);
  CHECK(code_of(tree, "/etc/link", kTrusted) == ELOOP);
  CHECK(code_of(tree, "/linked/file", kTrusted) == ELOOP);
  CHECK(code_of(tree, "/linked/link", kTrustedLinks) == 0);

  SECTION("not another user's link, wherever it leads") {
    REQUIRE(::lchown((tree / "/etc/link").c_str(), 1, 1) == 0);
    CHECK(code_of(tree, "/etc/link", kTrustedLinks) == EPERM);
  }
  SECTION("not another user's file") {
    REQUIRE(::chown((tree / "/etc/file").c_str(), 1, 0) == 0);
    CHECK(code_of(tree, "/etc/file", kTrusted) == EPERM);
    CHECK(code_of(tree, "/etc/link", kTrustedLinks) == EPERM);
    CHECK(code_of(tree, "/etc/file", {}) == 0);
  }
  SECTION("not in another user's folder") {
    REQUIRE(::chown((tree / "/etc").c_str(), 1, 0) == 0);
    CHECK(code_of(tree, "/etc/file", kTrusted) == EPERM);
  }
  SECTION("not in a folder that others may write, sticky or not") {
    REQUIRE(::chmod((tree / "/etc/file").c_str(), 0666) == 0);
    CHECK(code_of(tree, "/etc/file", kTrusted) == EPERM);
    REQUIRE(::chmod((tree / "/etc/file").c_str(), 0644) == 0);
    REQUIRE(::chmod((tree / "/etc").c_str(), 01777) == 0);
    CHECK(code_of(tree, "/etc/file", kTrusted) == EPERM);
  }
  SECTION("a group with write permission must be root's") {
    REQUIRE(::chmod((tree / "/etc/file").c_str(), 0664) == 0);
    CHECK(code_of(tree, "/etc/file", kTrusted) == 0);
    REQUIRE(::chown((tree / "/etc/file").c_str(), 0, 1) == 0);
    CHECK(code_of(tree, "/etc/file", kTrusted) == EPERM);
  }
}

TEST_CASE("a path without links") {
  const test::Tree tree;
  tree.file("/etc/rc.d/rc.local", "inside");
  tree.link("/etc/absolute", "/etc/rc.d");
  tree.link("/etc/above", "../../../etc/absolute/../rc.d/rc.local");
  tree.link("/etc/dangling", "/boot/none/kernel");
  tree.unreadable("/circle");
  const auto way = [&](const std::string& path) {
    const auto resolved = resolve_rooted(tree.root() / path);
    return resolved ? resolved->inside() : std::to_string(resolved.error().code);
  };
  CHECK(way("/etc/absolute/rc.local") == "/etc/rc.d/rc.local");
  CHECK(way("/etc/above") == "/etc/rc.d/rc.local");
  CHECK(way("/etc/dangling") == "/boot/none/kernel");
  CHECK(way("/none/at/all") == "/none/at/all");
  CHECK(way("/circle") == std::to_string(ELOOP));
}

TEST_CASE("a pattern matches files in the image") {
  const test::Tree tree;
  tree.file("/etc/a.d/1.conf", "");
  tree.file("/etc/a.d/.2.conf", "");
  tree.file("/etc/b.d/3.conf", "");
  tree.file("/etc/b.d/4.txt", "");
  tree.link("/etc/c.d", "/etc/b.d");
  tree.link("/etc/outside.d", "/etc/../usr/include/sys");
  using Paths = std::vector<std::string>;
  CHECK(paths_matching(tree.root(), "/etc/*.d/*.conf") ==
        Paths{"/etc/a.d/1.conf", "/etc/b.d/3.conf", "/etc/c.d/3.conf"});
  CHECK(paths_matching(tree.root(), "/etc/outside.d/*").empty());
  CHECK(paths_matching(tree.root(), "/etc/a.d/1.conf") == Paths{"/etc/a.d/1.conf"});
  CHECK(paths_matching(tree.root(), "/etc/a.d/none").empty());
  CHECK(paths_matching(tree.root(), "/../../*sr/include").empty());
}

TEST_CASE("a file that may be there is not absent") {
  const test::Tree tree;
  tree.file("/etc/file", "");
  tree.unreadable("/circle");
  tree.link("/dangling", "none");
  CHECK(is_there(tree.root() / "/etc/file").value_or(false));
  CHECK_FALSE(is_there(tree.root() / "/etc/none").value_or(true));
  CHECK_FALSE(is_there(tree.root() / "/dangling").value_or(true));
  CHECK(is_there(tree.root() / "/dangling", FinalLink::Shown).value_or(false));
  CHECK(is_there(tree.root() / "/circle").error().code == ELOOP);
}

TEST_CASE("the part of a path that others could have written is named") {
  const test::Tree tree;
  tree.file("/etc/agent/file", "good");
  const RootedPath place = tree.root() / "/etc/agent/file";
  CHECK_FALSE(find_distrusted(place));
  CHECK_FALSE(find_distrusted(tree.root() / "/etc/nothing/at/all"));
  REQUIRE(::chmod((tree / "/etc/agent/file").c_str(), 0666) == 0);
  auto found = find_distrusted(place);
  REQUIRE(found);
  CHECK(found->path == place.string());
  CHECK(found->why == "can be written by others than root");
  CHECK(found->remedy == "chmod go-w " + place.string());
  REQUIRE(::chown((tree / "/etc/agent").c_str(), 1, 0) == 0);
  REQUIRE(::chmod((tree / "/etc/agent").c_str(), 0757) == 0);
  found = find_distrusted(place);
  REQUIRE(found);
  CHECK(found->path == (tree / "/etc/agent").string());
  CHECK(found->why == "belongs to uid 1, not to root");
  CHECK(found->remedy == "chown root:root " + found->path + " && chmod go-w " + found->path);
  tree.link("/linked", "/etc");
  found = find_distrusted(tree.root() / "/linked/agent/file");
  REQUIRE(found);
  CHECK(found->path == (tree / "/linked").string());
  CHECK(found->why == "is a symbolic link, which is not followed");
}

TEST_CASE("a user other than root may trust his files in an image, but none in the system") {
  if (::geteuid() != 0) return;
  const test::Tree tree;
  tree.file("/file", "his");
  REQUIRE(::chown((tree / "/").c_str(), 1, 1) == 0);
  REQUIRE(::chown((tree / "/file").c_str(), 1, 1) == 0);
  CHECK(code_of(tree, "/file", kTrusted) == EPERM);
  REQUIRE(::seteuid(1) == 0);
  CHECK(code_of(tree, "/file", kTrusted) == 0);
  const auto here = read_file(Root{} / (tree / "/file").string(), kReadLimitBytes, kTrusted);
  REQUIRE(::seteuid(0) == 0);
  CHECK(here.error().code == EPERM);
}

TEST_CASE("the folder of a place, to make files in it") {
  const test::Tree tree;
  tree.file("/etc/rc.d/rc.local", "inside");
  tree.link("/etc/absolute", "/etc/rc.d");
  const auto parent = open_rooted_parent(tree.root() / "/etc/absolute/new");
  REQUIRE(parent);
  CHECK(parent->name == "new");
  struct stat found {};
  CHECK(::fstatat(parent->folder.get(), "rc.local", &found, 0) == 0);
  CHECK(open_rooted_parent(tree.root() / "/etc/..").error().code == EINVAL);
}

TEST_CASE("a file is replaced beside what another user has put into its folder") {
  const test::Tree tree;
  tree.file("/x", "old");
  for (const char* name : {"/.x.new", "/.x.XXXXXX"})
    REQUIRE(::mkfifo((tree / name).c_str(), 0600) == 0);
  CHECK(replace_file(tree / "/x", "new", 0600));
  CHECK(tree.read("/x") == "new");
  // A folder cannot be replaced by a file; the draft goes.
  tree.directory("/folder/x");
  CHECK_FALSE(replace_file(tree / "/folder", "new"));
  CHECK(list_directory(tree.root() / "/")->size() == 4);
}

}  // namespace

}  // namespace pvrdma
