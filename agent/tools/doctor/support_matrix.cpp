// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/doctor/support_matrix.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "agent/base/text.hpp"

namespace pvrdma {

namespace {

using Version = std::pair<unsigned, unsigned>;

struct Row {
  std::string_view id;  // of os-release
  Version roce_v1;
  Version roce_v2;
  unsigned without_driver = 0;  // the first release whose kernel lacks it; 0: none is known
};

// CONFIG_INFINIBAND_VMWARE_PVRDMA was disabled in February 2024 (kernel-ark, merge request 2954).
constexpr unsigned kWithoutDriver = 10;

// UEKR4 and UEKR5 are Linux 4.1 and 4.14: these rows have kernel versions, not versions of Oracle
// Linux.
constexpr std::array kRows{
    Row{"centos", {7, 2}, {7, 3}, kWithoutDriver}, Row{"rhel", {7, 2}, {7, 3}, kWithoutDriver},
    // Rebuilds of RHEL, with the same kernel.
    Row{"rocky", {8, 0}, {8, 0}, kWithoutDriver}, Row{"almalinux", {8, 0}, {8, 0}, kWithoutDriver},
    Row{"sles", {12, 1}, {12, 3}}, Row{"ol", {4, 1}, {4, 14}}, Row{"ubuntu", {14, 4}, {16, 4}},
    Row{"photon", {3, 0}, {3, 0}}};

// Reads "16.04", "7", "4.14.35-1818.el7uek.x86_64"; `exact`: there was a second number.
std::optional<Version> version_from(std::string_view text, bool& exact) {
  const auto leading = [](std::string_view word) {
    return word.substr(0, word.find_first_not_of("0123456789"));
  };
  const auto major = number_from<unsigned>(leading(cut(text, '.')));
  const auto minor = number_from<unsigned>(leading(text));
  exact = minor.has_value();
  if (!major) return std::nullopt;
  return Version{*major, minor.value_or(0)};
}

// Ubuntu's LTS releases are those of April of an even year.
bool is_lts(Version ubuntu) { return ubuntu.first % 2 == 0 && ubuntu.second == 4; }

Support compare(const Row& row, Version version, bool exact) {
  if (row.without_driver != 0 && version.first >= row.without_driver) return Support::NoDriver;
  if (version >= row.roce_v2) return Support::RoceV2;
  // CentOS's os-release says "7" for 7.1 and for 7.9.
  if (!exact && version.first == row.roce_v2.first) return Support::Unknown;
  return version >= row.roce_v1 ? Support::RoceV1 : Support::None;
}

}  // namespace

Support support_of(const OsRelease& os, const std::string& kernel) {
  const auto row = std::find_if(kRows.begin(), kRows.end(),
                                [&](const Row& candidate) { return candidate.id == os.id; });
  if (row == kRows.end()) return Support::None;
  const bool by_kernel = os.id == "ol";
  if (by_kernel && kernel.find("uek") == std::string::npos) return Support::None;
  bool exact = false;
  const auto version = version_from(by_kernel ? kernel : os.version, exact);
  if (!version) return Support::Unknown;
  if (os.id == "ubuntu" && !is_lts(*version)) return Support::None;
  return compare(*row, *version, exact);
}

}  // namespace pvrdma
