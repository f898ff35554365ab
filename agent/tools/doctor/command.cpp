// SPDX-License-Identifier: GPL-2.0-or-later
// `doctor`: is RDMA usable here; if not, who has to act, and what exactly is to be done?
#include "agent/tools/doctor/command.hpp"

#include <nlohmann/json.hpp>

#include "agent/ctl/json_text.hpp"
#include "agent/ctl/text.hpp"
#include "agent/tools/doctor/examination.hpp"
#include "agent/tools/doctor/host_output/command.hpp"
#include "agent/tools/survey/machine.hpp"
#include "build_config.hpp"

namespace pvrdma::ctl {

namespace {

VmIdentity identity(const Examination& examination, const Root& root) {
  VmIdentity vm;
  const std::string name = probes::host_name();
  vm.host_name = name.empty() ? "(unknown)" : name;
  if (const OsRelease* os = examination.survey.os.get()) vm.system = os->name + ", ";
  vm.system += "Linux " + examination.snapshot.kernel.value_or("(unknown)");
  vm.uuid = probes::dmi(root, "product_uuid").value_or("");
  for (const Adapter& adapter : examination.snapshot.adapters.value_or({})) {
    const Netdev* netdev = adapter.netdev.get();
    vm.adapters.push_back(netdev == nullptr ? adapter.function
                                            : lasting_mac(*netdev) + " (" + adapter.function +
                                                  ", " + netdev->name + ")");
  }
  return vm;
}

}  // namespace

int doctor(const Settings& settings, const Console& console, const DoctorOptions& options) {
  if (!options.host_output.empty()) return host_output(settings, console, options);
  const Examination examination = examine(settings, options);
  std::string text;
  if (options.host_admin) {
    const Ticket ticket{
        identity(examination, options.root),
        doctor::host_troubles(examination.snapshot, examination.survey, examination.findings),
        doctor::host_checklist(examination.snapshot, examination.survey)};
    text = settings.json ? dumped(ticket_json(ticket)) + "\n"
                         : render_ticket(ticket, console.style().width);
  } else {
    text = settings.json ? dumped(to_json(examination)) + "\n"
                         : render_examination(examination, console.style());
  }
  return console.print(text) ? static_cast<int>(usable(examination)) : kExitUnknown;
}

}  // namespace pvrdma::ctl
