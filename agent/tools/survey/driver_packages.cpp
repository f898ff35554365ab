// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/survey/driver_packages.hpp"

#include <array>
#include <string_view>

#include "agent/base/text.hpp"
#include "agent/model/catalogue.hpp"

namespace pvrdma {

namespace {

// Red Hat's and its rebuilds', by the ID of os-release. Oracle's own kernel, UEK, is another.
constexpr std::array<std::string_view, 5> kEnterprise{"rhel", "centos", "rocky", "almalinux", "ol"};

// "24.04", "9.4", "6.8.0-45-generic": the number before the first dot; 0: there is none.
unsigned major_of(std::string_view version) {
  return number_from<unsigned>(cut(version, '.')).value_or(0);
}

// The catalogue's variant of DriverNotShipped.
std::string_view variant_for(const OsRelease& os, const std::string& kernel) {
  const unsigned release = major_of(os.version);
  if (os.id == "debian") return "debian";
  // From Linux 7.0 on, the kernel of 26.04, there is no package of extra modules.
  if (os.id == "ubuntu") return release >= 26 || major_of(kernel) >= 7 ? "ubuntu" : "ubuntu-extra";
  if (!contains(kEnterprise, os.id) || release == 0 || has_part(kernel, "uek")) return {};
  return release >= 10 ? "el10" : "el9";
}

}  // namespace

void name_driver_package(const OsRelease& os, std::vector<Finding>& findings) {
  for (Finding& finding : findings) {
    if (finding.id != FindingId::DriverNotShipped) continue;
    const auto variant = variant_for(os, finding.values["kernel"]);
    if (!variant.empty()) finding = make_finding(finding.id, variant, finding.values);
  }
}

}  // namespace pvrdma
