// SPDX-License-Identifier: GPL-2.0-or-later
// The configuration that vSphere has for this VM, as units/read-guestinfo leaves it: where it
// counts, and where not.
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/catch.hpp"
#include "tests/unit/config/config_tree.hpp"

using namespace pvrdma;
using pvrdma::test::ConfigTree;
using pvrdma::test::kMain;

namespace {

constexpr const char* kFolder = "/run/pvrdma-agent-guestinfo";
constexpr const char* kAnswer = "/run/pvrdma-agent-guestinfo/answer";
constexpr const char* kUsedBefore = "/run/pvrdma-agent-guestinfo/used-before-upgrade";
constexpr const char* kEnabled = "guestinfo.enabled = true\n";
constexpr const char* kTwo = "config\n[readiness]\nadapters = 2\ntimeout = \"2s\"\n";

LoadedConfig loaded_from(const ConfigTree& tree) {
  auto loaded = tree.load();
  REQUIRE(loaded);
  return std::move(*loaded);
}

// Nothing of the guestinfo configuration is in force, and the reason begins with `complaint`.
void check_left_out(const ConfigTree& tree, const std::string& complaint) {
  const LoadedConfig loaded = loaded_from(tree);
  CHECK(loaded.left_out.substr(0, complaint.size()) == complaint);
  CHECK(loaded.left_out.find('\n') == std::string::npos);
  CHECK_FALSE(loaded.config.complete);
  CHECK(loaded.config.modules == Config::Modules{});
  CHECK(loaded.files == std::vector<std::filesystem::path>{tree / kMain});
}

}  // namespace

TEST_CASE("guestinfo: it counts as a drop-in of its name where a file enables it") {
  ConfigTree tree;
  tree.file(kAnswer, kTwo);
  tree.file(kMain, std::string{kEnabled} + "[readiness]\nadapters = 1\ntimeout = \"1s\"\n");
  LoadedConfig loaded = loaded_from(tree);
  CHECK(loaded.config.readiness.adapters == 2U);
  CHECK(loaded.left_out.empty());
  CHECK(loaded.config.complete);
  CHECK(loaded.files == std::vector<std::filesystem::path>{tree / kMain, kGuestinfo});
  SECTION("a later drop-in of /etc wins") {
    tree.file("/etc/pvrdma-agent/pvrdma-agent.toml.d/60.toml", "[readiness]\nadapters = 3\n");
    loaded = loaded_from(tree);
    CHECK(loaded.config.readiness.adapters == 3U);
    CHECK(loaded.config.readiness.timeout == std::chrono::seconds{2});
  }
  SECTION("a drop-in of the same name in /etc replaces it, one in /usr/lib is replaced") {
    tree.file("/usr/lib/pvrdma-agent/pvrdma-agent.toml.d/50-guestinfo.toml",
              "[modules]\nreload = \"never\"\n");
    loaded = loaded_from(tree);
    CHECK(loaded.config.readiness.adapters == 2U);
    CHECK(loaded.config.modules.reload == ReloadPolicy::Auto);
    tree.link("/etc/pvrdma-agent/pvrdma-agent.toml.d/50-guestinfo.toml", "/dev/null");
    loaded = loaded_from(tree);
    CHECK(loaded.config.readiness.adapters == 1U);
    CHECK(loaded.config.complete);
  }
}

TEST_CASE("guestinfo: by default it does not count") {
  ConfigTree tree;
  tree.file(kMain, GENERATE(as<std::string>{}, "", "guestinfo.enabled = false\n"));
  tree.file(kAnswer, GENERATE(as<std::string>{}, kTwo, "error is not base64\n"));
  const LoadedConfig loaded = loaded_from(tree);
  CHECK(loaded.config.readiness == Config::Readiness{});
  CHECK(loaded.left_out.empty());
  CHECK(loaded.config.complete);
  CHECK(loaded.files == std::vector<std::filesystem::path>{tree / kMain});
}

TEST_CASE("guestinfo: keys that may only be set in a file of this machine") {
  ConfigTree tree;
  tree.file(kMain, kEnabled);
  const std::pair<const char*, const char*> cases[] = {
      {"[modules]\nreload = \"never\"\n", "1: modules = {…}"},
      {"modules.before = [\"evil\"]\n", "1: modules = {…}"},
      {"\"modules\" = { required = [] }\n", "1: modules = {…}"},
      {"modules = 1\n", "1: modules = 1"},
      {"\nguestinfo.enabled = true\n", "2: guestinfo = {…}"},
      {"[[adapter]]\nmatch = { netdev = \"a\" }\n[[adapter]]\nmatch = { netdev = \"b\" }\n"
       "manage = \"agent\"\n",
       "5: adapter.manage = \"agent\""},
      {"adapter = [{ match = { netdev = \"a\" }, manage = \"observe\" }]\n",
       "1: adapter.manage = \"observe\""},
      {"[[adapter]]\nmtu = 9000\nmanage = \"agent\"\n", "3: adapter.manage = \"agent\""},
  };
  for (const auto& [text, place] : cases) {
    CAPTURE(text);
    tree.file(kAnswer, "config\n" + std::string{text});
    check_left_out(tree, std::string{kGuestinfo} + ":" + place +
                             ": may only be set in a file of this machine");
  }
}

TEST_CASE("guestinfo: where it is bad it is left out, with name, line and key; the files count") {
  ConfigTree tree;
  tree.file(kMain, kEnabled);
  const std::string name{kGuestinfo};
  SECTION("a value") {
    tree.file(kAnswer, "config\n\n[readiness]\nadapters = 12\n");
    check_left_out(tree, name + ":3: readiness.adapters = 12: must be \"all\" or a number from 0");
  }
  SECTION("no TOML") {
    tree.file(kAnswer, "config\nreload\n");
    check_left_out(tree, name + ":1: is not TOML");
  }
  SECTION("a conflict with a file") {
    tree.file(kMain, std::string{kEnabled} + "[[adapter]]\nmatch = { netdev = \"ens1\" }\n");
    tree.file(kAnswer, "config\n[[adapter]]\nmatch = { netdev = \"ens1\" }\n");
    check_left_out(tree, name + ":2: adapter.match");
  }
  SECTION("it could not be fetched") {
    tree.file(kAnswer, "error is not base64\n");
    check_left_out(tree, name + ": is not base64");
  }
  SECTION("the reason why it could not be fetched is untrusted text") {
    tree.file(kAnswer, "error encoding = \"\x1b[2J\xff\"\n");
    check_left_out(tree, name + ": encoding = \"\\x1b[2J\\xff\"");
  }
  SECTION("too large") {
    tree.file(kAnswer, "config\n" + pvrdma::test::lines_of_bytes(pvrdma::kConfigLimitBytes + 1));
    check_left_out(tree, name + ": is larger than 64 KiB");
    // The decoded text of 128 KiB in base64.
    tree.file(kAnswer, "config\n" + pvrdma::test::lines_of_bytes(96U << 10U));
    check_left_out(tree, name + ": is larger than 64 KiB");
    tree.file(kAnswer, "config\n" + std::string(1U << 22U, '#'));
    check_left_out(tree, name + ": ");
  }
  SECTION("fetched in part, or not to the end") {
    tree.file(kAnswer, "");
    check_left_out(tree, name + ": cannot be read");
    tree.remove(kAnswer);
    check_left_out(
        tree, name +
                  ": cannot be read: the program that fetches it has not run, or was interrupted: "
                  "systemctl start pvrdma-agent-guestinfo");
  }
  SECTION("a file of another user") {
    if (::geteuid() != 0) return;
    tree.file(kAnswer, kTwo);
    REQUIRE(::chown((tree / kAnswer).c_str(), 1, 1) == 0);
    check_left_out(tree, name + ": ");
  }
}

TEST_CASE("guestinfo: without it, or without an answer, the configuration is complete") {
  ConfigTree tree;
  tree.file(kMain, kEnabled);
  SECTION("no VMware") {}
  SECTION("nothing is set there") { tree.file(kAnswer, "none\n"); }
  SECTION("as large as allowed") {
    tree.file(kAnswer, "config\n" + pvrdma::test::lines_of_bytes(pvrdma::kConfigLimitBytes));
  }
  const LoadedConfig loaded = loaded_from(tree);
  CHECK(loaded.left_out.empty());
  CHECK(loaded.config.complete);
}

TEST_CASE(
    "guestinfo: its use by an older version is reported until `enabled` is set, or the boot ends") {
  ConfigTree tree;
  tree.file(kUsedBefore, "");
  tree.file(kMain, "");
  check_left_out(tree, std::string{kGuestinfo} + ": the earlier version used it by default");
  CHECK(loaded_from(tree).left_out.find("guestinfo.enabled = true") != std::string::npos);
  tree.file(kMain, "guestinfo.enabled = false\n");
  CHECK(loaded_from(tree).config.complete);
  CHECK(loaded_from(tree).left_out.empty());
  tree.file(kAnswer, kTwo);
  tree.file(kMain, kEnabled);
  CHECK(loaded_from(tree).config.readiness.adapters == 2U);
  CHECK(loaded_from(tree).config.complete);
  tree.file(kMain, "");
  tree.remove(kFolder);
  CHECK(loaded_from(tree).config.complete);
}

TEST_CASE("guestinfo: it does not repair bad files") {
  ConfigTree tree;
  tree.file(kMain, std::string{kEnabled} + "[readiness]\nadapters = 11\n");
  tree.file(kAnswer, kTwo);
  CHECK(tree.complaint().substr(0, std::string{kMain}.size()) == kMain);
}
