// `boots`: the steps of this boot and of those before it, side by side.
#include <nlohmann/json.hpp>

#include "agent/ctl/boots_journal.hpp"
#include "agent/ctl/commands.hpp"
#include "agent/ctl/failure.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/ctl/rendering_boots.hpp"

namespace pvrdma::ctl {

namespace {

constexpr int kBootsVersion = 1;

Json step_json(const Step& step) {
  return {{"step", to_string(step.kind)},
          {"subject", step.subject.empty() ? Json(nullptr) : Json(step.subject)},
          {"at_ms", to_ms(step.at)},
          {"took_ms", step.took ? Json(step.took->count()) : Json(nullptr)},
          {"at_or_before", step.at_or_before}};
}

Json boot_json(const Timeline& boot) {
  Json steps = Json::array();
  for (const Step& step : boot.steps) steps.push_back(step_json(step));
  return {{"boot_id", boot.boot_id},
          {"began", boot.began},
          {"kernel", boot.kernel},
          {"port_changes", boot.port_changes},
          {"steps", std::move(steps)}};
}

Json to_json(const std::vector<Timeline>& boots) {
  Json list = Json::array();
  for (const Timeline& boot : boots) list.push_back(boot_json(boot));
  return {{"version", kBootsVersion}, {"boots", std::move(list)}};
}

}  // namespace

int boots(const Settings& settings, const Console& console, const BootsReader& read) {
  const auto found = read();
  if (!found) return end_without(settings, console, found.error());
  if (found->is_volatile)
    console.complain(
        "the journal lasts until the machine is shut down, so no earlier boot is known; `mkdir "
        "/var/log/journal && journalctl --flush` keeps it (journald.conf(5), Storage=)");
  if (found->boots.empty())
    return end_without(settings, console,
                       NoAnswer{"", "the journal tells of no boot with an adapter",
                                "See: journalctl -u pvrdma-agent"});
  const bool printed = console.print(settings.json ? dumped(to_json(found->boots)) + "\n"
                                                   : render_boots(found->boots, console.style()));
  return printed ? 0 : kExitUnknown;
}

}  // namespace pvrdma::ctl
