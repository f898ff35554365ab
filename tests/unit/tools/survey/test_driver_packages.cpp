// SPDX-License-Identifier: GPL-2.0-or-later
// Each distribution's own remedy for a kernel without vmw_pvrdma.
#include "agent/base/text.hpp"
#include "agent/model/catalogue.hpp"
#include "agent/tools/survey/driver_packages.hpp"
#include "tests/unit/catch.hpp"

using namespace pvrdma;

namespace {

std::vector<std::string> commands_on(const std::string& id, const std::string& version,
                                     const std::string& kernel) {
  std::vector<Finding> findings{
      make_finding(FindingId::Unreadable, {}, {{"error", "other"}}),
      make_finding(FindingId::DriverNotShipped, {}, {{"kernel", kernel}})};
  const Finding before = findings.front();
  name_driver_package({id, version, ""}, findings);
  CHECK(findings.front() == before);
  const Finding& finding = findings.back();
  CHECK(finding.id == FindingId::DriverNotShipped);
  CHECK(has_part(finding.summary, kernel));
  CHECK_FALSE(has_part(finding.summary + finding.remedy, "{"));
  auto commands = commands_of(finding);
  for (const std::string& command : commands) CHECK_FALSE(has_part(command, "{"));
  return commands;
}

// The first of the commands, or "none".
std::string command_on(const std::string& id, const std::string& version,
                       const std::string& kernel) {
  const auto commands = commands_on(id, version, kernel);
  return commands.empty() ? "none" : commands.front();
}

}  // namespace

TEST_CASE("a kernel without the driver: each distribution has a remedy of its own") {
  CHECK(command_on("ubuntu", "20.04", "5.4.0-200-generic") ==
        "apt-get install linux-modules-extra-5.4.0-200-generic");
  CHECK(command_on("ubuntu", "24.04", "6.8.0-45-generic") ==
        "apt-get install linux-modules-extra-6.8.0-45-generic");
  // 24.04 with the kernel of 26.04, and 26.04 itself
  for (const std::string version : {"24.04", "26.04"})
    CHECK(command_on("ubuntu", version, "7.0.0-10-generic") ==
          "apt-get install --reinstall linux-modules-7.0.0-10-generic");
  for (const std::string version : {"12", ""})  // testing and unstable have no number
    CHECK(command_on("debian", version, "6.1.0-50-amd64") ==
          "apt-get install linux-headers-6.1.0-50-amd64 linux-source");
  CHECK(command_on("rocky", "9.4", "5.14.0-427.el9.x86_64") ==
        "dnf provides '/lib/modules/5.14.0-427.el9.x86_64/*/vmw_pvrdma.ko.xz'");
  for (const std::string id : {"rhel", "centos", "rocky", "almalinux", "ol"})
    CHECK(command_on(id, "10", "6.12.0-55.el10.x86_64") ==
          "dnf install dkms dnf-plugins-core kernel-devel-6.12.0-55.el10.x86_64    # dkms is of "
          "EPEL: enable that first");
}

TEST_CASE("a kernel without the driver: Ubuntu's later kernels come with the extra modules") {
  const auto commands = commands_on("ubuntu", "22.04", "5.15.0-91-generic");
  REQUIRE(commands.size() == 2);
  CHECK(has_part(commands[1], "apt-get install linux-image-generic "));
  CHECK(has_part(commands[1], "linux-image-generic-hwe-22.04"));
  // Its linux-image-virtual also depends on the package with the driver.
  CHECK(commands_on("ubuntu", "24.04", "7.0.0-44-generic").size() == 1);
}

TEST_CASE("a kernel without the driver: what is not known stays general") {
  CHECK(command_on("ol", "10.1", "6.12.0-100.el10uek.x86_64") == "none");
  CHECK(command_on("rhel", "", "5.14.0-427.el9.x86_64") == "none");
  CHECK(command_on("sles", "15.6", "6.4.0-150600-default") == "none");
}
