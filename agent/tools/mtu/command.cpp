// `mtu`: the largest packet that reaches a host in one piece. Asks the network, not the agent.
#include "agent/tools/mtu/command.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/ctl/failure.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/tools/mtu/measure.hpp"
#include "agent/tools/mtu/rendering.hpp"

namespace pvrdma::ctl {

int mtu(const Settings& settings, const Console& console, const MtuOptions& options) {
  const bool live = console.live && !settings.json;
  const auto tell = [&](const Measurements& so_far) {
    if (live) console.progress(mtu_progress(so_far));
  };
  const auto measured = pmtu::measure({options.hosts, options.family, options.timeout}, tell);
  if (live) console.progress("");
  if (!measured) return end_without(settings, console, measured.error().message());
  bool printed = true;
  if (settings.json) {
    printed = console.print(dumped(mtu_json(*measured)) + "\n");
  } else {
    printed = console.print(render_mtu(*measured));
    for (const std::string& line : mtu_complaints(*measured)) console.complain(line);
  }
  const bool all_found = std::all_of(measured->begin(), measured->end(),
                                     [](const pmtu::Measurement& one) { return one.found(); });
  return printed && all_found ? 0 : kExitUnknown;
}

}  // namespace pvrdma::ctl
