// SPDX-License-Identifier: GPL-2.0-or-later
// `mtu`: the largest packet that reaches a host in one piece. Asks the network, not the agent.
#include "agent/tools/mtu/command.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/ctl/json_text.hpp"
#include "agent/tools/mtu/rendering.hpp"

namespace pvrdma::ctl {

namespace {

int exit_code(const Measurements& all, unsigned expect) {
  if (expect != 0) {
    const pmtu::Carries carries = pmtu::carries(all, expect);
    if (carries == pmtu::Carries::Unknown) return kExitUnknown;
    return carries == pmtu::Carries::No ? kExitFailed : 0;
  }
  return std::ranges::all_of(all, &pmtu::Measurement::found) ? 0 : kExitUnknown;
}

}  // namespace

int mtu(const Settings& settings, const Console& console, const MtuOptions& options) {
  auto programs = pmtu::Programs::find(options);
  if (!programs) return end_without(settings, console, programs.error());
  if (!options.adapter.empty()) {
    auto found = pmtu::interface_of_adapter(options.root, options.adapter);
    if (!found) return end_without(settings, console, found.error());
    programs->interface = std::move(*found);
  }
  const bool live = console.live && !settings.json;
  const Measurements all = pmtu::measure(options.hosts, *programs, [&](const Measurements& so_far) {
    if (live) console.progress(mtu_progress(so_far));
  });
  if (live) console.progress("");
  if (settings.json)
    return console.print(dumped(mtu_json(all, options.expect)) + "\n")
               ? exit_code(all, options.expect)
               : kExitUnknown;
  const bool printed = console.print(render_mtu(all, options.expect));
  for (const std::string& line : mtu_complaints(all)) console.complain(line);
  return printed ? exit_code(all, options.expect) : kExitUnknown;
}

}  // namespace pvrdma::ctl
