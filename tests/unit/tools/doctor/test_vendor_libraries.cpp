// SPDX-License-Identifier: GPL-2.0-or-later
// Lines to copy that mend the libraries: those that replace a vendor's in an image name the image's
// own packages.
#include <string>
#include <vector>

#include "agent/model/catalogue.hpp"
#include "agent/tools/doctor/surroundings.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"
#include "tests/unit/tools/doctor/doctor_scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

std::string lines_for(const Survey& survey) {
  std::string all;
  for (const Finding& finding : doctor::surroundings({}, ready_scene(2), survey))
    for (const std::string& line : commands_of(finding)) all += line + "\n";
  return all;
}

}  // namespace

TEST_CASE("the file that names the provider belongs where libibverbs looks for it") {
  Survey survey = good_survey();
  libraries(survey).driver_folder = "/usr/local/etc/libibverbs.d";
  libraries(survey).driver_file = {};
  CHECK(lines_for(survey) ==
        "mkdir -p /usr/local/etc/libibverbs.d\n"
        "echo 'driver vmw_pvrdma' >/usr/local/etc/libibverbs.d/vmw_pvrdma.driver\n");
}

TEST_CASE("the lines against a vendor's libraries fit the image") {
  Survey survey = good_survey();
  const auto lines = [&] { return lines_for(survey); };
  libraries(survey).vendor = {"/etc/ld.so.conf.d/mlnx.conf: /opt/mellanox/lib"};
  CHECK(lines().find("apt-get purge -y libibverbs1 \\\n") != std::string::npos);
  libraries(survey).vendor_packages = std::vector<std::string>{"libibverbs1", "librdmacm1"};
  CHECK(lines().find("apt-get purge -y libibverbs1 librdmacm1 \\\n") != std::string::npos);
  CHECK(lines().find("apt-get install -y -t jammy --no-install") != std::string::npos);
  survey.os.get()->codename.clear();
  CHECK(lines().find("apt-get install -y --no-install") != std::string::npos);
  libraries(survey).vendor_packages = {};
  CHECK(lines().starts_with("rpm -qa | grep"));
}
