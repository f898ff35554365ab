// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/doctor/host_output/command.hpp"

#include <cerrno>
#include <nlohmann/json.hpp>

#include "agent/ctl/fields.hpp"
#include "agent/ctl/local.hpp"
#include "agent/tools/doctor/survey_probe.hpp"

namespace pvrdma::ctl {

namespace {

// Reads netlink and sysfs. After a crash of the driver, which may hold its locks for ever, the list
// is empty.
std::vector<doctor::GuestLink> guest_links(const Root& root) {
  std::vector<doctor::GuestLink> links;
  const auto crash = probes::look_for_kernel_crash(root);
  if (crash.get() != nullptr && crash.get()->in_driver) return links;
  for (const Adapter& adapter : observe_locally(root, Config{}).adapters.value_or({}))
    if (const Netdev* netdev = adapter.netdev.get()) links.push_back({netdev->name, netdev->mtu});
  return links;
}

}  // namespace

int code_of(const doctor::HostReading& reading) {
  const doctor::Weight worst =
      reading.remarks.empty() ? doctor::Weight::Unknown : reading.remarks.front().weight;
  if (worst == doctor::Weight::Change) return 1;
  return worst == doctor::Weight::Unknown || !reading.missing.empty() ? kExitUnknown : 0;
}

int host_output(const Settings& settings, const Console& console, const DoctorOptions& options) {
  if (const std::string hint = hint_to_paste(options.host_output); !hint.empty())
    console.complain(hint);
  const auto text = read_paste(options.host_output);
  if (!text)
    return end_without(settings, console,
                       printable(text.error().message()) +
                           (text.error().code == EFBIG ? "; at most 1 MiB is read" : ""));
  const auto guest = guest_links(options.root);
  const doctor::HostReading reading = doctor::judge_host_output(*text, guest);
  const bool printed = console.print(settings.json ? dumped(host_output_json(reading, guest)) + "\n"
                                                   : render_host_output(reading, console.style()));
  return printed ? code_of(reading) : kExitUnknown;
}

}  // namespace pvrdma::ctl
