// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/ctl/local.hpp"

#include <utility>

#include "agent/codec/ledger_file.hpp"
#include "agent/config/config_files.hpp"
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

LocalLook conclude_locally(const Config& config, const std::string& left_out,
                           const Snapshot& snapshot) {
  const BootTime now = BootClock::now();
  // One look cannot tell when the last change was. The state is taken as settled, so that the plan
  // is that of an agent after its waits; only udev, and a module in its init function, are waited
  // for.
  History history;
  history.started = now;
  for (const Adapter& adapter : snapshot.adapters.value_or({}))
    history.adapters[adapter.function] = {BootTime{}, now - 3 * kSettle, 0, now};
  Plan made = plan(config, snapshot, history, now);
  if (!left_out.empty())
    made.findings.insert(made.findings.begin(), findings::config_left_out(left_out));
  Health health = assess(config, snapshot, made, history, now);
  health.since = now;
  return {std::move(health), std::move(made)};
}

Result<LocalLook> look_locally(const Root& root) {
  const auto loaded = load_config(root);
  if (!loaded) return fail(loaded.error());
  return conclude_locally(loaded->config, loaded->left_out, observe_locally(root, loaded->config));
}

}  // namespace pvrdma::ctl
