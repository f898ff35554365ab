// SPDX-License-Identifier: GPL-2.0-or-later
// `seal`: lists the traces of this VM that a template made of it would hand down, and the remedy
// for each. Changes nothing: virt-sysprep, cloud-init or the administrator does that.
#include "agent/tools/seal/command.hpp"

#include <nlohmann/json.hpp>

#include "agent/config/config_files.hpp"
#include "agent/ctl/json_text.hpp"
#include "agent/ctl/text.hpp"
#include "agent/tools/seal/template.hpp"

namespace pvrdma::ctl {

namespace {

using probes::Trace;
using probes::TraceKind;
using probes::Traces;

struct Advice {
  std::string what;    // the state, as a predicate of the file
  std::string remedy;  // what to do
  const char* id;
};

Advice of_network(const Trace& trace, std::string what, const char* id) {
  const bool by_cloud_init = trace.path.find("cloud-init") != std::string::npos;
  std::string remedy = "Remove the line, and match the interface by its name or driver.";
  if (trace.path.starts_with(probes::kCloudSettings))
    remedy =
        "Remove the network from the file: cloud-init sets it in each clone, whatever vSphere has "
        "for that clone.";
  else if (by_cloud_init)
    remedy =
        "`cloud-init clean --configs network` removes the file; with cloud-init before 23.4 delete "
        "it. Each clone has its own written.";
  else if (trace.kind == TraceKind::Address)
    remedy =
        "Have each clone's address written at its first boot (cloud-init, guest customization).";
  else if (trace.path.find("70-persistent-net") != std::string::npos)
    remedy = "Remove the file; a clone's interfaces would get other names.";
  return {std::move(what), std::move(remedy), id};
}

Advice advice_for(const Trace& trace) {
  switch (trace.kind) {
    case TraceKind::Mac:
      return of_network(trace, "names the MAC " + trace.what, "baked-mac");
    case TraceKind::Uuid:
      return of_network(trace, "has the UUID " + trace.what, "baked-uuid");
    case TraceKind::Address:
      return of_network(trace, "has the address " + trace.what, "baked-address");
    case TraceKind::AgentMac:
      return {
          "matches an adapter by the MAC " + trace.what,
          "Match by pci, which clones of one template share, or have the file written for each.",
          "agent-mac"};
    case TraceKind::AgentAddress:
      return {"gives an adapter the address " + trace.what,
              "Leave addresses out, and have each clone's written at its first boot.",
              "agent-address"};
    case TraceKind::MachineId:
      return {"is set: " + trace.what, "Empty it: truncate -s 0 /etc/machine-id", "machine-id"};
    case TraceKind::Initramfs:
      return {"is older than " + trace.what,
              "Build it anew: update-initramfs -u -k all on Debian and Ubuntu; where that command "
              "is missing, as on Enterprise Linux, /usr/libexec/pvrdma-agent/refresh-initramfs "
              "--force",
              "initramfs-old"};
    case TraceKind::Recipe:
      break;
  }
  return {"loads or reloads vmw_pvrdma: " + trace.what,
          "`pvrdma-agentctl migrate` says when, and what its --apply leaves to you.",
          "boot-script"};
}

Json to_json(const Traces& traces) {
  Json found = Json::array();
  for (const Trace& trace : traces.found) {
    const Advice advice = advice_for(trace);
    found.push_back({{"id", advice.id},
                     {"path", trace.path},
                     {"line", nullptr},
                     {"value", trace.what},
                     {"summary", trace.path + " " + advice.what},
                     {"remedy", advice.remedy}});
    if (trace.line != 0) found.back()["line"] = trace.line;
  }
  Json unreadable = Json::array();
  for (const Error& error : traces.unreadable) unreadable.push_back(error.message());
  return {{"sealed", traces.found.empty() && traces.unreadable.empty()},
          {"findings", std::move(found)},
          {"unreadable", std::move(unreadable)}};
}

std::string rendered(const Traces& traces, const Style& style) {
  std::string text;
  for (const Trace& trace : traces.found) {
    const Advice advice = advice_for(trace);
    const std::string place =
        trace.path + (trace.line == 0 ? "" : ":" + std::to_string(trace.line));
    text += wrapped(printable(place + " " + advice.what), style.width, 2) + "\n  " +
            wrapped(advice.remedy, style.width, 2) + "\n";
  }
  return text.empty() ? "nothing of this VM would be handed down\n" : text;
}

}  // namespace

int seal(const Settings& settings, const Console& console, const SealOptions& options) {
  const Root root{options.root};
  const LoadedConfig loaded = load_config_or_safe(root);
  std::vector<std::string> files;
  for (const auto& file : loaded.files)
    if (file != kGuestinfo)  // vSphere's, which is no file of the image
      files.push_back("/" + file.lexically_relative(root / "/").string());
  Traces traces = probes::find_traces(root, loaded.config, files, options.module_lookup);
  // An invalid configuration may have traces as well.
  if (!loaded.error.empty()) traces.unreadable.push_back({0, loaded.error, ""});
  if (!settings.json)
    for (const Error& error : traces.unreadable)
      console.complain("not all could be looked at: " + printable(error.message()));
  const bool printed = console.print(settings.json ? dumped(to_json(traces)) + "\n"
                                                   : rendered(traces, console.style()));
  if (!printed || (traces.found.empty() && !traces.unreadable.empty())) return kExitUnknown;
  return traces.found.empty() ? 0 : 1;
}

}  // namespace pvrdma::ctl
