// SPDX-License-Identifier: GPL-2.0-or-later
// The files that count, their order, and faults of the files themselves.
#include <sys/stat.h>

#include "tests/unit/catch.hpp"
#include "tests/unit/config/config_tree.hpp"
#include "tests/unit/places.hpp"

using namespace pvrdma;
using pvrdma::test::ConfigTree;
using pvrdma::test::kMain;

TEST_CASE("no file is a good configuration") {
  const auto loaded = ConfigTree{}.load();
  REQUIRE(loaded);
  CHECK(loaded->config == Config{});
  CHECK(loaded->files.empty());
}

TEST_CASE("a missing file is no fault in a folder that others can write") {
  const ConfigTree tree;
  tree.directory("/run");
  REQUIRE(::chmod((tree / "/run").c_str(), 01777) == 0);
  CHECK(tree.load()->files.empty());
  tree.file("/run/pvrdma-agent-config/pvrdma-agent.toml.d/a.toml", "");
  CHECK(!tree.load());
}

TEST_CASE("the example has the defaults") {
  ConfigTree tree;
  tree.file(kMain, read_file(places::example).value());
  const auto loaded = tree.load();
  REQUIRE(loaded);
  Config defaults;
  defaults.guestinfo.enabled = false;
  CHECK(loaded->config == defaults);
}

TEST_CASE("a full file") {
  ConfigTree tree;
  tree.file(kMain, R"(
# as in the manual
[modules]
before   = ["ib-umad", "rdma_cm"]
required = ["ib_umad"]
reload   = "always"
[readiness]
adapters = 2
timeout  = "2min"
forget_removed = "1h 30min"
[[adapter]]
match     = { mac = "00:50:56:8A:9F:C2" }
manage    = "agent"
mtu       = 9000
addresses = ["192.168.30.201/24", "FD00::1/64"]
[[adapter]]
match = { pci = "0000:1B:00.1" }
[[adapter]]
match = { netdev = "ens224f0" }
manage = "observe"
)");
  const auto loaded = tree.load();
  REQUIRE(loaded);
  const Config& config = loaded->config;
  CHECK(config.modules.before == std::vector<std::string>{"ib_umad", "rdma_cm"});
  CHECK(config.modules.required == std::vector<std::string>{"ib_umad"});
  CHECK(config.modules.reload == ReloadPolicy::Always);
  CHECK(config.readiness.adapters == 2U);
  CHECK(config.readiness.timeout == std::chrono::minutes{2});
  CHECK(config.readiness.forget_removed == std::chrono::minutes{90});
  REQUIRE(config.adapters.size() == 3);
  CHECK(config.adapters[0].match.mac == "00:50:56:8a:9f:c2");
  CHECK(config.adapters[0].manage == Manage::Agent);
  CHECK(config.adapters[0].mtu == 9000U);
  CHECK(config.adapters[0].addresses ==
        std::vector<std::string>{"192.168.30.201/24", "fd00::1/64"});
  CHECK(config.adapters[1].match.pci == "0000:1b:00.1");
  CHECK(config.adapters[1].manage == Manage::Auto);
  CHECK_FALSE(config.adapters[1].mtu);
  CHECK(config.adapters[2].match.netdev == "ens224f0");
  CHECK(config.adapters[2].manage == Manage::Observe);
}

TEST_CASE("the first main file counts, then every drop-in by its name") {
  ConfigTree tree;
  tree.file("/etc/pvrdma-agent/pvrdma-agent.toml", "[readiness]\nadapters = 1\ntimeout = \"1s\"");
  tree.file("/run/pvrdma-agent-config/pvrdma-agent.toml", "[modules]\nreload = \"never\"");
  tree.file("/usr/lib/pvrdma-agent/pvrdma-agent.toml.d/20-b.toml", "[readiness]\nadapters = 5");
  tree.file("/run/pvrdma-agent-config/pvrdma-agent.toml.d/10-a.toml", "[readiness]\nadapters = 3");
  tree.file("/usr/lib/pvrdma-agent/pvrdma-agent.toml.d/10-a.toml", "[readiness]\nadapters = 9");
  tree.file("/etc/pvrdma-agent/pvrdma-agent.toml.d/30-c.conf", "not toml");
  tree.file("/etc/pvrdma-agent/pvrdma-agent.toml.d/.toml", "not toml");
  const auto loaded = tree.load();
  REQUIRE(loaded);
  CHECK(loaded->config.readiness.adapters == 5U);
  CHECK(loaded->config.readiness.timeout == std::chrono::seconds{1});
  CHECK(loaded->config.modules.reload == ReloadPolicy::Auto);
  CHECK(loaded->files == std::vector<std::filesystem::path>{
                             tree / "/etc/pvrdma-agent/pvrdma-agent.toml",
                             tree / "/run/pvrdma-agent-config/pvrdma-agent.toml.d/10-a.toml",
                             tree / "/usr/lib/pvrdma-agent/pvrdma-agent.toml.d/20-b.toml"});
}

TEST_CASE("a drop-in replaces single keys and adds adapters") {
  ConfigTree tree;
  tree.file(kMain,
            "[modules]\nbefore = [\"a\", \"b\"]\nrequired = [\"a\"]\n"
            "[[adapter]]\nmatch = {netdev = \"one\"}\n");
  tree.file("/etc/pvrdma-agent/pvrdma-agent.toml.d/1.toml",
            "[readiness]\nadapters = \"all\"\n[modules]\nbefore = [\"a\"]\n"
            "[[adapter]]\nmatch = {netdev = \"two\"}\n");
  const auto loaded = tree.load();
  REQUIRE(loaded);
  CHECK(loaded->config.modules.before == std::vector<std::string>{"a"});
  CHECK(loaded->config.modules.required == std::vector<std::string>{"a"});
  REQUIRE(loaded->config.adapters.size() == 2);
  CHECK(loaded->config.adapters[1].match.netdev == "two");
}

TEST_CASE("an [[adapter]] without match is for every adapter, key by key, whatever the order") {
  ConfigTree tree;
  tree.file(kMain,
            "[[adapter]]\nmatch = {netdev = \"one\"}\nmtu = 1500\naddresses = [\"10.0.0.1/24\"]\n"
            "[[adapter]]\nmtu = 9000\nmanage = \"agent\"\n"
            "[[adapter]]\nmatch = {netdev = \"two\"}\nmanage = \"auto\"\n");
  tree.file("/etc/pvrdma-agent/pvrdma-agent.toml.d/1.toml",
            "[[adapter]]\nmtu = 4000\ngid_type = \"RoCE v1\"\n");
  const auto loaded = tree.load();
  REQUIRE(loaded);
  const Config& config = loaded->config;
  CHECK(config.every_adapter == AdapterConfig{{}, Manage::Agent, 4000U, {}, GidType::RoceV1});
  REQUIRE(config.adapters.size() == 2);
  CHECK(config.adapters[0] ==
        AdapterConfig{{{}, {}, "one"}, Manage::Agent, 1500U, {"10.0.0.1/24"}, GidType::RoceV1});
  CHECK(config.adapters[1] ==
        AdapterConfig{{{}, {}, "two"}, Manage::Auto, 4000U, {}, GidType::RoceV1});
}

TEST_CASE("without a `required` key, it follows the list of modules") {
  ConfigTree tree;
  tree.file(kMain, "[modules]\nbefore = [\"rdma_ucm\", \"x\"]\n");
  const auto loaded = tree.load();
  REQUIRE(loaded);
  CHECK(loaded->config.modules.required == std::vector<std::string>{"rdma_ucm"});
}

TEST_CASE("a link to /dev/null masks a drop-in") {
  ConfigTree tree;
  tree.file("/usr/lib/pvrdma-agent/pvrdma-agent.toml.d/1.toml", "[readiness]\nadapters = 3");
  tree.file("/etc/pvrdma-agent/pvrdma-agent.toml.d/2.toml", "");
  std::filesystem::create_symlink("/dev/null",
                                  tree / "/etc/pvrdma-agent/pvrdma-agent.toml.d/1.toml");
  const auto loaded = tree.load();
  REQUIRE(loaded);
  CHECK_FALSE(loaded->config.readiness.adapters);
  CHECK(loaded->files.size() == 1);
}
