// SPDX-License-Identifier: GPL-2.0-or-later
// Lines of modprobe.d, and which of them keep a module, or a module that it needs, from being
// loaded.
#include <libkmod.h>

#include <algorithm>
#include <array>

#include "agent/base/handle.hpp"
#include "agent/base/text.hpp"
#include "probes/modprobe_config.hpp"
#include "probes/modules.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/places.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::probes;

namespace {

const WantedModule kDriver{"vmw_pvrdma", {"ib_uverbs", "ib_core"}};

ModprobeConfig config_of(const test::Tree& tree) {
  return read_modprobe_config(places::module_lookup, tree.root(), ModprobeOf::NextBoot);
}

// The line of this file that blocks the driver.
std::string how(const std::string& text, const std::string& command_line = "") {
  const test::Tree tree;
  tree.file("/etc/modprobe.d/a.conf", text);
  const auto blocks = find_module_blocks(config_of(tree), command_line, {kDriver});
  REQUIRE(blocks.is_known());
  return blocks.get()->empty() ? "" : blocks.get()->front().how;
}

std::string fixture(const std::string& name) {
  return read_file(std::string{places::fixtures} + "/field/" + name).value();
}

}  // namespace

TEST_CASE("modprobe.d by lines: line numbers, joined lines, comments, other keywords") {
  const auto lines = parse_modprobe(
      "# blacklist a\n\nblacklist my-module trailing\n  install\tib-umad  /bin/sh \\\n-c true\n"
      "softdep vmw-pvrdma pre: a b-c post: d\noptions x y=1\nremove x /bin/true\nblacklist\n"
      "blacklist cr\r\ninstall last /bin/false \\");
  CHECK(lines == std::vector<ModprobeLine>{{"blacklist", "my_module", "", 3},
                                           {"install", "ib_umad", "/bin/sh -c true", 4},
                                           {"softdep", "vmw_pvrdma", "pre: a b-c post: d", 6},
                                           {"options", "x", "y=1", 7},
                                           {"blacklist", "cr\r", "", 10},
                                           {"install", "last", "/bin/false", 11}});
  CHECK(parse_modprobe_lines(print_modprobe_lines(lines)).value() == lines);
  for (const char* bad : {"blacklist\n", "1 blacklist\n", "x blacklist a\n"})
    CHECK(parse_modprobe_lines(bad).error().code == EBADMSG);
}

TEST_CASE("modprobe.d by lines: libkmod has the same commands") {
  const std::string text =
      "install ib-core /bin/true\n install\tib_cm   /bin/false --no\n#install a /bin/true\n"
      "install ib_* /bin/true\ninstall wrapped \\\n/bin/true\ninstall crlf /bin/true\r\n";
  const test::Tree tree;
  tree.file("/conf/a.conf", text);
  const std::string folder = tree / "/conf";
  const std::array<const char*, 2> folders{folder.c_str(), nullptr};
  const Handle<kmod_ctx, kmod_unref> context{kmod_new("/lib/modules", folders.data())};
  REQUIRE(context);
  std::vector<std::string> theirs;
  const Handle<kmod_config_iter, kmod_config_iter_free_iter> all{
      kmod_config_get_install_commands(context.get())};
  while (kmod_config_iter_next(all.get()))
    theirs.push_back(std::string{kmod_config_iter_get_key(all.get())} + " " +
                     std::string{trimmed(kmod_config_iter_get_value(all.get()))});
  std::vector<std::string> ours;
  for (const ModprobeLine& line : parse_modprobe(text)) ours.push_back(line.name + " " + line.rest);
  CHECK(ours == theirs);
}

TEST_CASE("the file that counts is named, with the line") {
  const test::Tree tree;
  tree.file("/usr/lib/modprobe.d/a.conf", "blacklist hidden\n");
  tree.file("/etc/modprobe.d/a.conf", "\n# x\nblacklist one \\");
  tree.file("/etc/modprobe.d/z.conf", "blacklist two\n\nblacklist three");
  const auto lines = config_of(tree);
  REQUIRE(lines);
  std::vector<std::string> places;
  for (const ModprobeLine& line : *lines) places.push_back(line.name + " " + line.place);
  CHECK(places == std::vector<std::string>{"one /etc/modprobe.d/a.conf:3",
                                           "two /etc/modprobe.d/z.conf:1",
                                           "three /etc/modprobe.d/z.conf:3"});
  CHECK(read_modprobe_config("/nowhere", tree.root(), ModprobeOf::NextBoot).error().code == ENOENT);
}

TEST_CASE("a hardening guide's list blocks the driver through a module that it needs") {
  CHECK(
      how(fixture("stig-blacklist.conf")) ==
      "it needs ib_core, kept away by \"install ib_core /bin/true\" in /etc/modprobe.d/a.conf:14");
}

TEST_CASE("lines that block a needed module, and lines that do not") {
  const std::string front = "it needs ib_core, kept away by ";
  for (const char* command :
       {"/bin/false", "/usr/bin/true", "/bin/true; exit 0", "/bin/echo no; /bin/false"}) {
    INFO(command);
    CHECK(how("install ib-core " + std::string{command} + "\n") ==
          front + "\"install ib_core " + command + "\" in /etc/modprobe.d/a.conf:1");
  }
  CHECK(how("install ib_c* /bin/true\n").starts_with(front));
  CHECK(how("", "quiet module_blacklist=ib_core\n") ==
        front + "\"module_blacklist=ib_core\" on the kernel's command line");
  // The first line counts, and it loads the module.
  CHECK(how("install ib_core /sbin/modprobe -i ib_core\ninstall ib_core /bin/true\n").empty());
  // Loading the driver does not apply a block list to the modules that it needs.
  CHECK(how("blacklist ib_core\n", "modprobe.blacklist=ib_core").empty());
  CHECK(how("install ib_isert /bin/true\nsoftdep vmw_pvrdma pre: ib_isert\n").empty());
  // Guides have both lines; they count as one block.
  CHECK(
      how("blacklist vmw-pvrdma\ninstall vmw_pvrdma /bin/false\n") ==
      "\"blacklist vmw_pvrdma\" in /etc/modprobe.d/a.conf:1; \"install vmw_pvrdma /bin/false\" in "
      "/etc/modprobe.d/a.conf:2");
}

TEST_CASE("blocks are looked up for modules that are not loaded") {
  const test::Tree tree;
  tree.file("/proc/modules", "rdma_cm 1 0 - Live 0x0\n");
  tree.file("/etc/modprobe.d/a.conf", "install ib_core /bin/true\ninstall rdma_cm /bin/true\n");
  const Field<std::string> release{std::string{"6.1"}};
  const std::vector<std::string> names{"vmw_pvrdma", "rdma_cm", "mlx4_ib"};
  unsigned asked = 0;
  Snapshot previous;
  const auto look = [&] {
    return look_at_modules(
        tree.root(), release, names, &previous,
        [&](const Root&, const std::string&, const std::vector<std::string>& wanted) {
          ++asked;
          std::vector<IndexEntry> entries;
          for (const std::string& name : wanted)
            entries.push_back(name == "mlx4_ib" ? IndexEntry{Shipped::Missing}
                                                : IndexEntry{Shipped::Loadable, kDriver.needs});
          return entries;
        },
        [&](const Root&) { return config_of(tree); });
  };
  auto modules = look();
  CHECK(modules[0].needs == kDriver.needs);
  CHECK(
      modules[0].blocked.is("it needs ib_core, kept away by \"install ib_core /bin/true\" in "
                            "/etc/modprobe.d/a.conf:1"));
  CHECK(modules[1].blocked.is_absent());  // the module is loaded
  CHECK(modules[2].blocked.is_absent());  // there is no block
  SECTION("a needed module that is loaded already is not loaded with it") {
    tree.file("/sys/module/ib_core/initstate", "live\n");
    CHECK(look()[0].blocked.is_absent());
  }
  SECTION("the line is gone: the next look sees it, without the index") {
    tree.file("/lib/modules/6.1/modules.dep.bin", "x");
    previous.kernel = release;
    previous.modules = modules;
    previous.taken_at = BootClock::now() + std::chrono::hours{1};
    asked = 0;
    CHECK(look()[0].blocked.is_known());
    tree.remove("/etc/modprobe.d/a.conf");
    CHECK(look()[0].blocked.is_absent());
    CHECK(asked == 0);
  }
  SECTION("for modules loaded at the last look the index is read again") {
    tree.file("/lib/modules/6.1/modules.dep.bin", "x");
    previous.kernel = release;
    previous.modules = modules;
    previous.modules[0] = {"vmw_pvrdma", ModuleInit::Live, 0U, 1U, Shipped::Loadable};
    previous.taken_at = BootClock::now() + std::chrono::hours{1};
    CHECK(look()[0].needs == kDriver.needs);
  }
  SECTION("an unreadable file: not known") {
    tree.unreadable("/etc/modprobe.d/b.conf");
    CHECK(look()[0].blocked.is_unreadable());
  }
}
