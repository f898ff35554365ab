// SPDX-License-Identifier: GPL-2.0-or-later
// The lines that replace a vendor's libraries in an image name the image's own packages.
#include <string>
#include <vector>

#include "agent/model/catalogue.hpp"
#include "agent/tools/doctor/surroundings.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"
#include "tests/unit/tools/doctor/doctor_scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

TEST_CASE("the lines against a vendor's libraries fit the image") {
  Survey survey = good_survey();
  const auto lines = [&] {
    std::string all;
    for (const Finding& finding : doctor::surroundings(ready_scene(2), survey))
      for (const std::string& line : commands_of(finding)) all += line + "\n";
    return all;
  };
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
