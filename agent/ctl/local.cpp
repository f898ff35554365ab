// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/ctl/local.hpp"

#include <utility>

#include "agent/codec/ledger_file.hpp"
#include "agent/plan/findings.hpp"
#include "agent/plan/planner.hpp"
#include "probes/observe.hpp"
#include "probes/recipe/boot_scripts.hpp"

namespace pvrdma::ctl {

Snapshot observe_locally(const Root& root, const Config& config, const Helpers& helpers) {
  probes::Instruments with{root};
  probes::PortQuery port_query{helpers.port_query};
  if (!helpers.port_query.empty()) with.port_query = &port_query;
  probes::ask_module_lookup(with, helpers.module_lookup);
  probes::BootScriptWatch boot_scripts{root};
  with.boot_scripts = &boot_scripts;
  with.read_ledger = [&] { return codec::read_ledger(root / codec::kLedgerPath); };
  return probes::observe(with, {config.modules.before});
}

LocalLook conclude_locally(const LoadedConfig& loaded, const Snapshot& snapshot) {
  const BootTime now = BootClock::now();
  // One look cannot tell when the last change was. The state is taken as settled, so that the plan
  // is that of an agent after its waits; only udev, a module in its init function and a
  // customization of the VM are waited for.
  History history;
  history.started = now;
  history.customized_until = now + kCustomizationPatience;
  for (const Adapter& adapter : snapshot.adapters.value_or({}))
    history.adapters[adapter.function] = {BootTime{}, now - 3 * kSettle, 0, now};
  Plan made = plan(loaded.config, snapshot, history, now);
  auto& all = made.findings;
  if (!loaded.left_out.empty()) all.insert(all.begin(), findings::config_left_out(loaded.left_out));
  if (!loaded.error.empty()) findings::put_config_bad(all, loaded.error, true);
  Health health = assess(loaded.config, snapshot, made, history, now);
  health.since = now;
  return {std::move(health), std::move(made)};
}

LocalLook look_locally(const Root& root) {
  const LoadedConfig loaded = load_config_or_safe(root);
  return conclude_locally(loaded, observe_locally(root, loaded.config));
}

}  // namespace pvrdma::ctl
