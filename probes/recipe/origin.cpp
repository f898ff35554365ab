// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/recipe/origin.hpp"

namespace pvrdma::probes {

bool Origin::runs_at_boot() const {
  const bool later = start == UnitStart::ByTimer || start == UnitStart::ByEvent ||
                     start == UnitStart::AtSleep || start == UnitStart::AfterSleep;
  return place->at_boot && as.at_boot && !later;
}

const char* Origin::when() const {
  switch (start) {
    case UnitStart::AtSleep:
      return kRunAtSleep;
    case UnitStart::AfterSleep:
      return "run after a resume";
    case UnitStart::ByEvent:
      return "run when udev or a path unit starts it";
    case UnitStart::ByTimer:
      return "run by a timer";
    case UnitStart::AfterBoot:
      return "run by a timer after every boot";
    default:
      return place->when;
  }
}

std::string Origin::by_hand() const {
  if (!as.by_hand.empty()) return as.by_hand;
  if (start == UnitStart::AtSleep)
    return "the agent unloads the driver neither before a suspend nor before a shutdown: keep "
           "that; before a suspend stop the agent first, as it loads the driver again at once";
  if (start == UnitStart::AfterSleep)
    return "it runs beside the agent, which looks at the ports after a resume itself";
  if (start == UnitStart::ByTimer) return "a timer starts it again and again: a loop";
  if (start == UnitStart::ByEvent)
    return "udev or a path unit starts it at events, beside the agent";
  // A script that root's crontab runs may still be edited.
  return only_tools || by.empty() ? place->by_hand : "";
}

void judge(RecipeLine& line, RecipeForm form, const Origin& origin) {
  line.at_boot = line.at_boot && origin.runs_at_boot();
  if (line.kind != LineKind::Driver || form == RecipeForm::ModuleList) return;
  if (!line.at_boot && !line.touches_driver) line.by_hand = kHarmless;
  const std::string why = origin.by_hand();
  if (why.empty() || line.by_hand == kHarmless) return;
  const bool told = line.by_hand.empty() || line.by_hand == kDoesMore;
  line.by_hand = why + (told ? "" : "; " + line.by_hand);
}

}  // namespace pvrdma::probes
