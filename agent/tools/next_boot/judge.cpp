// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/next_boot/judge.hpp"

#include <algorithm>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/model/catalogue.hpp"
#include "agent/plan/questions.hpp"
#include "agent/tools/survey/memlock.hpp"

namespace pvrdma {

namespace {

void say(NextBoot& outcome, const char* name, Outlook outlook, std::string text) {
  outcome.machine.push_back({name, outlook, std::move(text)});
}

void judge_kernels(const Config& config, const Forecast& forecast, NextBoot& outcome) {
  const NextKernel* next = forecast.next.get();
  if (const Error* error = forecast.next.error()) note(outcome, *error);
  for (const KernelForecast& kernel : forecast.kernels)
    judge_kernel(config, forecast, kernel, next == nullptr || next->release == kernel.release,
                 outcome);
  // Where the next kernel has no modules, it has no driver.
  if (next != nullptr && std::ranges::none_of(outcome.kernels, &KernelOutlook::next)) {
    outcome.findings.push_back(
        make_finding(FindingId::DriverNotShipped, {}, {{"kernel", next->release}}));
    outcome.kernels.push_back({next->release,
                               false,
                               true,
                               Outlook::No,
                               {{"driver", Outlook::No, "its modules are not in /lib/modules"}}});
  }
  if (outcome.kernels.empty()) {
    if (outcome.unreadable.empty() && forecast.unreadable.empty())
      outcome.findings.push_back(make_finding(FindingId::NoKernel, {}, {}));
    return;
  }
  std::ranges::stable_sort(outcome.kernels,
                           [](const KernelOutlook& one, const KernelOutlook& other) {
                             if (one.next != other.next) return one.next;
                             return one.running && !other.running;
                           });
  outcome.driver = outcome.kernels.front().driver;
  if (next == nullptr)
    for (const KernelOutlook& kernel : outcome.kernels)
      if (kernel.driver != outcome.driver) outcome.driver = Outlook::Unknown;
}

void judge_blocks(const Config& config, const Forecast& forecast, NextBoot& outcome) {
  if (const Error* error = forecast.blocks.error()) note(outcome, *error);
  for (const ModuleBlock& block : forecast.blocks.value_or({}))
    outcome.findings.push_back(make_finding(
        FindingId::ModuleBlocked, is_required(config, block.module) ? "required" : "optional",
        {{"module", block.module}, {"how", block.how}}));
  for (const FunctionClaim& claim : forecast.claims.value_or({}))
    outcome.findings.push_back(
        make_finding(FindingId::FunctionClaimed, "next-boot",
                     {{"driver", claim.driver}, {"ids", claim.ids}, {"how", claim.how}}));
}

// Whether the agent will run; false also where that is not known.
bool judge_agent(const Forecast& forecast, NextBoot& outcome) {
  const std::string unit = "pvrdma-agent.service";
  if (const Error* error = forecast.agent.error()) {
    say(outcome, "agent", Outlook::Unknown, note(outcome, *error));
    return false;
  }
  const UnitFile* agent = forecast.agent.get();
  const UnitFile* executor = forecast.executor.get();
  const bool powerless = executor != nullptr && executor->masked;
  const char* variant = agent == nullptr  ? "missing"
                        : agent->masked   ? "masked"
                        : !agent->enabled ? "disabled"
                        : powerless       ? "executor"
                                          : nullptr;
  if (variant == nullptr) {
    say(outcome, "agent", Outlook::Yes, unit + " is enabled");
    return true;
  }
  Finding finding = make_finding(FindingId::AgentNotEnabled, variant, {});
  say(outcome, "agent", Outlook::No, finding.summary);
  outcome.findings.push_back(std::move(finding));
  return false;
}

std::string name_of(const LinkForecast& link) {
  if (link.netdev.empty() || link.adapter.find(link.netdev) != std::string::npos)
    return link.adapter;
  return link.netdev + " (" + link.adapter + ")";
}

std::string name_of(const LinkOwner& owner) {
  return std::string{to_string(owner.manager)} + (owner.file.empty() ? "" : ", by " + owner.file);
}

void judge_link(const LinkForecast& link, bool agent_runs, NextBoot& outcome) {
  const std::string name = name_of(link);
  const LinkOwner* owner = link.owner.get();
  const bool taken = owner != nullptr && owner->decided;
  const auto row = [&](Outlook outlook, const std::string& text) {
    say(outcome, "link", outlook, name + ": " + text);
  };
  const auto find = [&](const char* variant) {
    const bool is_adapter = !link.adapter.empty() && link.adapter.find('=') == std::string::npos;
    outcome.findings.push_back(
        make_finding(FindingId::LinkUnowned, variant, {{"link", name}},
                     is_adapter ? std::optional{link.adapter} : std::nullopt));
  };
  if (link.manage != Manage::Agent && taken) return row(Outlook::Yes, name_of(*owner));
  if (link.manage != Manage::Agent && link.owner.is_unreadable())
    return row(Outlook::Unknown, note(outcome, *link.owner.error()));
  // ifupdown has a stanza for the link and does not start it; the agent leaves it such a link.
  if (link.manage != Manage::Agent && owner != nullptr && owner->manager == LinkManager::Ifupdown) {
    find("unmanaged");
    return row(Outlook::No,
               name_of(*owner) + ", does not start it: there is no `auto` or `allow-hotplug`");
  }
  if (agent_runs && link.manage != Manage::Observe) {
    const std::string unless = owner == nullptr ? ""
                               : taken          ? ", and "
                                                : ", unless it is taken by ";
    if (link.addressed || owner != nullptr)
      return row(Outlook::Yes, "this agent" + unless + (owner != nullptr ? name_of(*owner) : ""));
    find("unaddressed");
    return row(Outlook::Yes, "this agent brings it up, and no configuration gives it an address");
  }
  if (owner != nullptr && link.manage != Manage::Agent)
    return row(Outlook::Unknown, "perhaps " + name_of(*owner));
  find("unmanaged");
  row(Outlook::No, "nothing will bring it up");
}

void judge_memlock(const Forecast& forecast, NextBoot& outcome) {
  const auto judge = [&](const std::string& who, const char* variant,
                         const Field<MemlockLimit>& field) {
    if (const Error* error = field.error())
      return say(outcome, "memlock", Outlook::Unknown, who + ": " + note(outcome, *error));
    const MemlockLimit* limit = field.get();
    if (limit == nullptr) {
      outcome.findings.push_back(make_finding(FindingId::NoSuchUnit, {}, {{"unit", who}}));
      return say(outcome, "memlock", Outlook::No, who + ": no such unit");
    }
    const bool ample = !is_low(*limit);
    if (!ample)
      outcome.findings.push_back(
          make_finding(FindingId::MemlockLow, variant,
                       {{"unit", who}, {"limit", text_of(*limit)}, {"place", limit->place}}));
    say(outcome, "memlock", ample ? Outlook::Yes : Outlook::No,
        who + ": " + text_of(*limit) + (limit->place.empty() ? "" : " (" + limit->place + ")"));
  };
  if (forecast.login_memlock.is_absent())
    say(outcome, "memlock", Outlook::Unknown,
        "logins: they have the limits of PID 1, which are not known here");
  else
    judge("logins", "login", forecast.login_memlock);
  for (const UnitMemlock& unit : forecast.unit_memlocks) judge(unit.unit, "unit", unit.limit);
}

void judge_scripts(const Forecast& forecast, NextBoot& outcome) {
  for (const BootScript& script : forecast.boot_scripts) {
    outcome.findings.push_back(make_finding(FindingId::BootScript, {}, {{"script", script.path}}));
    say(outcome, "scripts", Outlook::No, script.path + " loads or unloads the driver as well");
  }
}

}  // namespace

std::string note(NextBoot& outcome, const Error& error) {
  std::string text = error.message();
  if (!contains(outcome.unreadable, text)) outcome.unreadable.push_back(text);
  return text;
}

NextBoot judge(const Config& config, const Forecast& forecast) {
  NextBoot outcome;
  judge_kernels(config, forecast, outcome);
  judge_blocks(config, forecast, outcome);
  const bool agent_runs = judge_agent(forecast, outcome);
  for (const LinkForecast& link : forecast.links) judge_link(link, agent_runs, outcome);
  judge_memlock(forecast, outcome);
  judge_scripts(forecast, outcome);
  for (const Error& error : forecast.unreadable) note(outcome, error);
  return outcome;
}

}  // namespace pvrdma
