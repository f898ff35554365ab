// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/doctor/host_output/command.hpp"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "agent/ctl/json_text.hpp"
#include "agent/ctl/local.hpp"
#include "agent/model/snapshot.hpp"
#include "agent/tools/doctor/survey_probe.hpp"
#include "agent/tools/survey/machine.hpp"

namespace pvrdma::ctl {

namespace {

doctor::GuestLink link_of(const Adapter& adapter, const Netdev& netdev) {
  doctor::GuestLink link{netdev.name, netdev.mtu, lasting_mac(netdev)};
  const RdmaDevice* rdma = adapter.rdma_device.get();
  if (rdma == nullptr) return link;
  for (const Gid& gid : rdma->gids) {
    link.has_roce_v1 = link.has_roce_v1 || gid.type.is(kRoceV1);
    link.has_roce_v2 = link.has_roce_v2 || gid.type.is(kRoceV2);
  }
  return link;
}

// Reads netlink and sysfs. After a crash of the driver, which may hold its locks for ever, there
// are no links.
doctor::GuestVm guest_vm(const Root& root) {
  doctor::GuestVm guest;
  guest.uuid = probes::dmi(root, "product_uuid").value_or("");
  guest.name = probes::host_name();
  const auto crash = probes::look_for_kernel_crash(root);
  if (crash.get() != nullptr && crash.get()->in_driver) return guest;
  const Snapshot snapshot = observe_locally(root, Config{});
  const auto adapters = snapshot.adapters.value_or({});
  const std::string* first = snapshot.first_nic.get();
  if (first != nullptr && !adapters.empty())
    guest.first_is_adapter = find_in(adapters, *first, &Adapter::net_function) != nullptr;
  for (const Adapter& adapter : adapters)
    if (const Netdev* netdev = adapter.netdev.get())
      guest.links.push_back(link_of(adapter, *netdev));
  return guest;
}

}  // namespace

int code_of(const doctor::HostReading& reading) {
  const doctor::Weight worst =
      reading.remarks.empty() ? doctor::Weight::Unknown : reading.remarks.front().weight;
  if (worst == doctor::Weight::Change) return 1;
  const bool lacks = std::any_of(reading.missing.begin(), reading.missing.end(),
                                 [](const auto& missing) { return missing.is_required; });
  return worst == doctor::Weight::Unknown || lacks ? kExitUnknown : 0;
}

int host_output(const Settings& settings, const Console& console, const DoctorOptions& options) {
  if (const std::string hint = hint_to_paste(options.host_output); !hint.empty())
    console.complain(hint);
  const auto text = read_paste(options.host_output);
  if (!text)
    return end_without(settings, console,
                       printable(text.error().message()) +
                           (text.error().code == EFBIG ? "; at most 1 MiB is read" : ""));
  const auto guest = guest_vm(options.root);
  const doctor::HostReading reading = doctor::judge_host_output(*text, guest);
  const bool printed = console.print(settings.json ? dumped(host_output_json(reading, guest)) + "\n"
                                                   : render_host_output(reading, console.style()));
  return printed ? code_of(reading) : kExitUnknown;
}

}  // namespace pvrdma::ctl
