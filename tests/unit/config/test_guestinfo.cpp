// What vSphere has for this VM, as units/read-guestinfo leaves it: where it counts, and when not.
#include "tests/unit/catch.hpp"
#include "tests/unit/config/config_tree.hpp"

using namespace pvrdma;
using pvrdma::test::ConfigTree;
using pvrdma::test::kMain;

namespace {

constexpr const char* kFetched = "/run/pvrdma-agent-guestinfo/config.toml";
constexpr const char* kError = "/run/pvrdma-agent-guestinfo/error";
constexpr const char* kNever = "[modules]\nreload = \"never\"\n";

}  // namespace

TEST_CASE("it counts as a drop-in of its name") {
  ConfigTree tree;
  tree.file(kFetched, "[readiness]\nadapters = 2\ntimeout = \"2s\"\n");
  tree.file(kMain, "[readiness]\nadapters = 1\ntimeout = \"1s\"\n");
  auto loaded = tree.load();
  REQUIRE(loaded);
  CHECK(loaded->config.readiness.adapters == 2U);
  CHECK(loaded->left_out.empty());
  CHECK(loaded->config.complete);
  CHECK(loaded->files == std::vector<std::filesystem::path>{tree / kMain, kGuestinfo});
  SECTION("a later one of /etc wins") {
    tree.file("/etc/pvrdma-agent/pvrdma-agent.toml.d/60.toml", "[readiness]\nadapters = 3\n");
    loaded = tree.load();
    REQUIRE(loaded);
    CHECK(loaded->config.readiness.adapters == 3U);
    CHECK(loaded->config.readiness.timeout == std::chrono::seconds{2});
  }
  SECTION("one of its name in /etc replaces it, one in /usr/lib is replaced") {
    tree.file("/usr/lib/pvrdma-agent/pvrdma-agent.toml.d/50-guestinfo.toml", kNever);
    loaded = tree.load();
    REQUIRE(loaded);
    CHECK(loaded->config.readiness.adapters == 2U);
    CHECK(loaded->config.modules.reload == ReloadPolicy::Auto);
    tree.link("/etc/pvrdma-agent/pvrdma-agent.toml.d/50-guestinfo.toml", "/dev/null");
    loaded = tree.load();
    REQUIRE(loaded);
    CHECK(loaded->config.readiness.adapters == 1U);
  }
}

TEST_CASE("one line of a local file switches it off") {
  ConfigTree tree;
  tree.file(kFetched, kNever);
  tree.file(kMain, "guestinfo.enabled = false\n");
  auto loaded = tree.load();
  REQUIRE(loaded);
  CHECK(loaded->config.modules.reload == ReloadPolicy::Auto);
  CHECK(loaded->files == std::vector<std::filesystem::path>{tree / kMain});
  tree.remove(kFetched);
  tree.file(kError, "is not base64\n");
  loaded = tree.load();
  REQUIRE(loaded);
  CHECK(loaded->left_out.empty());
}

TEST_CASE("where it is bad it is left out, with its name, line and key, and the files stay") {
  ConfigTree tree;
  tree.file(kMain, kNever);
  std::string complaint;
  SECTION("a value") {
    tree.file(kFetched, "\n[readiness]\nadapters = 12\n");
    complaint =
        "guestinfo.pvrdma-agent.config:3: readiness.adapters = 12: must be \"all\" or a "
        "number from 0 to 10";
  }
  SECTION("no TOML") {
    tree.file(kFetched, "reload\n");
    complaint = "guestinfo.pvrdma-agent.config:1: is not TOML";
  }
  SECTION("what only a file may say") {
    tree.file(kFetched, "guestinfo.enabled = true\n");
    complaint =
        "guestinfo.pvrdma-agent.config:1: guestinfo = {…}: may only be set in a file of "
        "this machine";
  }
  SECTION("what does not go with a file") {
    tree.file(kMain, std::string{kNever} + "[[adapter]]\nmatch = { netdev = \"ens1\" }\n");
    tree.file(kFetched, "[[adapter]]\nmatch = { netdev = \"ens1\" }\n");
    complaint = "guestinfo.pvrdma-agent.config:2: adapter.match";
  }
  SECTION("it could not be had") {
    tree.file(kError, "is not base64\n");
    complaint = "guestinfo.pvrdma-agent.config: is not base64";
  }
  const auto loaded = tree.load();
  REQUIRE(loaded);
  CHECK(loaded->left_out.substr(0, complaint.size()) == complaint);
  CHECK(loaded->config.modules.reload == ReloadPolicy::Never);
  CHECK_FALSE(loaded->config.complete);
  CHECK(loaded->files == std::vector<std::filesystem::path>{tree / kMain});
}

TEST_CASE("it does not mend files that are bad by themselves") {
  ConfigTree tree;
  tree.file(kMain, "[modules]\nrequired = [\"x\"]\n");
  tree.file(kFetched, "[modules]\nbefore = [\"x\"]\n");
  CHECK(tree.complaint().substr(0, std::string{kMain}.size()) == kMain);
}
