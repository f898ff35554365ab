// SPDX-License-Identifier: GPL-2.0-or-later
// The marks that cloud-init and open-vm-tools leave while they customize a VM.
#include "probes/customization.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "agent/base/clock.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using probes::CloudInitStages;
using probes::customization;
using pvrdma::test::Tree;

namespace {

constexpr const char* kEnabled = "/run/cloud-init/enabled";
constexpr const char* kStatus = "/run/cloud-init/status.json";
constexpr const char* kWritten = "/var/lib/cloud/instance/sem/config_write_files";
constexpr const char* kDeploying = "/var/log/.vmware-deploy.INPROGRESS";

// A status in cloud-init 22.4's form; each stage's end is null or a time.
std::string status(const std::string& local, const std::string& network) {
  return R"({"v1": {"datasource": null, "init": {"errors": [], "finished": )" + network +
         R"(, "start": null}, "init-local": {"errors": [], "finished": )" + local +
         R"(, "start": 1795276800.25}, "modules-config": {"errors": [], "finished": null,)"
         R"( "start": null}, "stage": "init-local"}})";
}

void make_older_than_the_boot(const Tree& tree, const char* path) {
  const auto age = BootClock::now().time_since_epoch() + std::chrono::hours{1};
  std::filesystem::last_write_time(
      tree / path, std::filesystem::file_time_type::clock::now() -
                       std::chrono::duration_cast<std::filesystem::file_time_type::duration>(age));
}

}  // namespace

TEST_CASE("cloud-init's status is read, and nothing else is taken for one") {
  CHECK(probes::parse_cloud_init_status(status("null", "null")) == CloudInitStages{false, false});
  CHECK(probes::parse_cloud_init_status(status("1.5", "null")) == CloudInitStages{true, false});
  CHECK(probes::parse_cloud_init_status(status("1.5", "2")) == CloudInitStages{true, true});
  CHECK(probes::parse_cloud_init_status(R"({"v1": {"init-local": 3}})") ==
        CloudInitStages{false, false});
  for (const char* text : {"", "{", "[]", "3", R"({"v2": {}})", R"({"v1": []})"})
    CHECK_FALSE(probes::parse_cloud_init_status(text));
}

TEST_CASE("a machine without any of them waits for nothing") {
  const Tree tree;
  CHECK(customization(tree.root()).is_absent());
  // cloud-init is installed, and has not run in this boot.
  tree.file(kStatus, status("null", "null"));
  CHECK(customization(tree.root()).is_absent());
}

TEST_CASE("cloud-init is waited for up to the end of its network stage") {
  const Tree tree;
  tree.file(kEnabled, "");
  CHECK(customization(tree.root()).is("cloud-init's local stage"));
  tree.file(kStatus, status("null", "null"));
  CHECK(customization(tree.root()).is("cloud-init's local stage"));
  tree.file(kStatus, status("1.5", "null"));
  CHECK(customization(tree.root()).is("cloud-init's network stage"));
  SECTION("while it writes files") {
    tree.file(kWritten, "");
    CHECK(customization(tree.root()).is("cloud-init's network stage"));
  }
  SECTION("not where it wrote them in an earlier boot") {
    tree.file(kWritten, "");
    make_older_than_the_boot(tree, kWritten);
    CHECK(customization(tree.root()).is_absent());
  }
  SECTION("it has ended") {
    tree.file(kStatus, status("1.5", "2.5"));
    CHECK(customization(tree.root()).is_absent());
  }
  SECTION("its status is not understood") {
    tree.file(kStatus, "{}");
    CHECK(customization(tree.root()).is_unreadable());
  }
}

TEST_CASE("cloud-init is not waited for where its services are masked or disabled") {
  const Tree tree;
  tree.file(kEnabled, "");
  const std::string folder = GENERATE("/usr/lib/systemd/system/", "/lib/systemd/system/");
  const std::string own = "/etc/systemd/system/";
  for (const std::string service : {"cloud-init-local.service", "cloud-init.service"}) {
    tree.file(folder + service, "");
    tree.link(own + "cloud-init.target.wants/" + service, folder + service);
  }
  CHECK(customization(tree.root()).is("cloud-init's local stage"));
  SECTION("the local stage is masked") {
    tree.link(own + "cloud-init-local.service", "/dev/null");
    CHECK(customization(tree.root()).is_absent());
  }
  SECTION("the local stage is disabled") {
    tree.remove(own + "cloud-init.target.wants/cloud-init-local.service");
    CHECK(customization(tree.root()).is_absent());
  }
  SECTION("the network stage is masked") {
    tree.file(kStatus, status("1.5", "null"));
    CHECK(customization(tree.root()).is("cloud-init's network stage"));
    tree.link(own + "cloud-init.service", "/dev/null");
    CHECK(customization(tree.root()).is_absent());
  }
}

TEST_CASE("open-vm-tools is waited for while its mark of this boot is there") {
  const Tree tree;
  tree.file(kDeploying, "");
  CHECK(customization(tree.root()).is("the guest customization of open-vm-tools"));
  make_older_than_the_boot(tree, kDeploying);
  CHECK(customization(tree.root()).is_absent());
  tree.remove(kDeploying);
  tree.unreadable(kDeploying);
  tree.file(kEnabled, "");
  CHECK_FALSE(customization(tree.root()).is_absent());
}

TEST_CASE("unreadable marks do not count as absent") {
  Tree tree;
  SECTION("a folder that cannot be entered") { tree.unreadable("/run/cloud-init"); }
  SECTION("a folder of root's, for the daemon's user") {
    if (::geteuid() != 0) return;
    tree.file(kEnabled, "");
    for (const char* path : {"/", "/run"}) REQUIRE(::chmod((tree / path).c_str(), 0755) == 0);
    REQUIRE(::chmod((tree / "/run/cloud-init").c_str(), 0700) == 0);
  }
  const bool is_root = ::geteuid() == 0;
  if (is_root) REQUIRE(::seteuid(1) == 0);
  const auto seen = customization(tree.root());
  if (is_root) REQUIRE(::seteuid(0) == 0);
  CHECK(seen.is_unreadable());
}
