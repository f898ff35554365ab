// SPDX-License-Identifier: GPL-2.0-or-later
// The configuration that counts where files are bad: the same for daemon and executor.
#include <sys/stat.h>

#include "tests/unit/as_nobody.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/config/config_tree.hpp"

using namespace pvrdma;
using pvrdma::test::ConfigTree;
using pvrdma::test::kMain;

namespace {

constexpr const char* kDropIn = "/etc/pvrdma-agent/pvrdma-agent.toml.d/50.toml";

Config safe_with(Manage manage) {
  Config config;
  config.modules.reload = ReloadPolicy::Never;
  config.complete = false;
  config.every_adapter.manage = manage;
  return config;
}

}  // namespace

TEST_CASE("good files count unchanged") {
  const ConfigTree tree;
  tree.file(kMain, "[modules]\nreload = \"always\"\n");
  const LoadedConfig loaded = load_config_or_safe(tree.root());
  CHECK(loaded.error.empty());
  CHECK(loaded.config == tree.load()->config);
  CHECK(loaded.files.size() == 1);
}

TEST_CASE("bad files leave only harmless settings, and the line says why") {
  const ConfigTree tree;
  tree.file(kMain,
            "[[adapter]]\nmatch = { netdev = \"ens16f0\" }\nmtu = 9000\n"
            "addresses = [\"192.168.30.201/24\"]\n");
  tree.file(kDropIn, "[modules]\nreload = \"sometimes\"\n");
  const LoadedConfig loaded = load_config_or_safe(tree.root());
  CHECK(loaded.error.find("50.toml:2: modules.reload = \"sometimes\"") != std::string::npos);
  CHECK(loaded.config == safe_with(Manage::Auto));
  CHECK(loaded.files.empty());
}

TEST_CASE("a link that a bad file may exclude is left alone") {
  const ConfigTree tree;
  SECTION("in a good file next to the bad one") {
    tree.file(kMain, "[[adapter]]\nmatch = { netdev = \"x\" }\nmanage = \"observe\"\n");
    tree.file(kDropIn, "x = 1\n");
  }
  SECTION("in a good file next to drop-ins that are not read") {
    tree.file(kMain, "[[adapter]]\nmanage = \"observe\"\n");
    tree.file("/managed/50.toml", "");
    tree.link(std::string{kMain} + ".d", "/managed");
  }
  SECTION("in a good drop-in below a folder that is not read") {
    tree.link("/etc/pvrdma-agent", "/nowhere");
    tree.file("/usr/lib/pvrdma-agent/pvrdma-agent.toml.d/50.toml",
              "[[adapter]]\nmanage = \"observe\"\n");
  }
  SECTION("in the bad one") { tree.file(kMain, "[[adapter]\nmanage = \"observe\" # never\n"); }
  CHECK_FALSE(load_config_or_safe(tree.root()).error.empty());
  CHECK(load_config_or_safe(tree.root()).config == safe_with(Manage::Observe));
}

TEST_CASE("a comment excludes no link") {
  const ConfigTree tree;
  tree.file(kMain, "# manage = \"observe\"\nreload = 1 # or observe\n");
  CHECK(load_config_or_safe(tree.root()).config == safe_with(Manage::Auto));
}

TEST_CASE("a file that the daemon's user may not read gives only the daemon the safe subset") {
  const ConfigTree tree;
  tree.file(kMain, "[[adapter]]\nmtu = 9000\n");
  REQUIRE(::chmod((tree / kMain).c_str(), 0600) == 0);
  if (::geteuid() == 0) CHECK(load_config_or_safe(tree.root()).config.every_adapter.mtu == 9000U);
  const test::AsNobody daemon;
  const LoadedConfig loaded = load_config_or_safe(tree.root());
  CHECK(loaded.config == safe_with(Manage::Auto));
  CHECK(loaded.error.find("it needs o+r") != std::string::npos);
}
