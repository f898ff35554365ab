// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/recipe/unit_starts.hpp"

#include "probes/settings.hpp"

namespace pvrdma::probes {

UnitStart UnitStarts::of(const std::string& unit) {
  if (!wanted_) {
    wanted_.emplace();
    for (const std::string& folder : folders_)
      for (const std::string& name : names_in_(folder)) {
        if (!name.ends_with(".wants") && !name.ends_with(".requires")) continue;
        const auto& names = names_in_(folder + "/" + name);
        wanted_->insert(names.begin(), names.end());
      }
  }
  if (wanted_->contains(unit)) return UnitStart::AtBoot;
  const std::string timer = unit.substr(0, unit.rfind('.')) + ".timer";
  return wanted_->contains(timer) ? by_timer(timer) : UnitStart::Never;
}

// systemd.timer(5): each of the other two counts from the boot, and so once. One that cannot be
// read is taken for such a one, which the agent waits for.
UnitStart UnitStarts::by_timer(const std::string& timer) {
  UnitStart start = UnitStart::AfterBoot;
  for (const std::string& folder : folders_) {
    looked_at_.push_back(folder + "/" + timer);
    const auto text = read_file(root_ / looked_at_.back());
    if (!text) continue;
    for (const Setting& one : parse_settings(*text))
      if (one.section == "Timer" && (one.key == "OnCalendar" || one.key == "OnUnitActiveSec" ||
                                     one.key == "OnUnitInactiveSec"))
        start = UnitStart::ByTimer;
    break;
  }
  return start;
}

bool UnitStarts::has_drop_ins(const std::string& unit, const std::string& but) {
  for (const std::string& folder : folders_)
    for (const std::string& name : names_in_(folder + "/" + unit + ".d"))
      if (name != but) return true;
  return false;
}

}  // namespace pvrdma::probes
