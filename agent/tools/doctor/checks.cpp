#include "agent/tools/doctor/checks.hpp"

#include <algorithm>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/tools/doctor/adapter_rows.hpp"
#include "agent/tools/doctor/machine_rows.hpp"
#include "agent/tools/doctor/rows.hpp"
#include "agent/tools/doctor/surroundings.hpp"

namespace pvrdma::doctor {

namespace {

void add_once(std::vector<std::string>& lines, std::string line) {
  if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
}

std::string module_line(const Module& module) {
  std::string line = module.name + ": ";
  if (module.init.is_known())
    line += to_string(*module.init.get());
  else
    line += module.init.is_absent() ? "not loaded" : "unreadable";
  if (module.shipped.is_known()) line += std::string{", "} + to_string(*module.shipped.get());
  if (module.refcount.is_known()) line += ", used " + std::to_string(*module.refcount.get()) + "x";
  return line;
}

// In the order in which they were loaded, which is what matters.
Check modules(const Snapshot& snapshot) {
  Check check{"modules", Concern::Modules};
  std::vector<const Module*> sorted;
  for (const Module& module : snapshot.modules) sorted.push_back(&module);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Module* a, const Module* b) {
    return a->load_order.value_or(~0U) < b->load_order.value_or(~0U);
  });
  for (const Module* module : sorted) {
    const bool is_there = module->init.is(ModuleInit::Live) || module->init.is(ModuleInit::BuiltIn);
    check.add(is_there ? Standing::Good : Standing::Plain, module_line(*module));
    for (const Error* error : {module->init.error(), module->shipped.error()})
      if (error != nullptr) add_once(check.unread, error->message());
  }
  return check;
}

Check refusals(const Snapshot& snapshot, const Survey& survey) {
  Check check{"blocks", Concern::Blocks};
  if (const auto* blocks = fact(check, survey.blocks, "block lists: not looked at"))
    check.add(blocks->empty() ? Standing::Good : Standing::Plain,
              listed(
                  *blocks, "modprobe.d and the command line block no module",
                  [](const ModuleBlock& block) { return block.module + ": " + block.how; }, "; "));
  tell(check, survey.secure_boot, "Secure Boot: not booted by EFI",
       [](bool on) { return std::string{"Secure Boot: "} + (on ? "on" : "off"); });
  const Module* driver = snapshot.module(kDriverModule);
  if (driver != nullptr && driver->shipped.is(Shipped::Loadable))
    tell(check, survey.driver_signer, "vmw_pvrdma is not signed",
         [](const std::string& signer) { return "vmw_pvrdma is signed by " + signer; });
  return check;
}

Check hardware(const Snapshot& snapshot, const Survey& survey) {
  Check check{"adapters", Concern::Adapters};
  tell(check, survey.vendor, "machine: DMI does not say", [&](const std::string& vendor) {
    return "machine: " + vendor + " " + survey.product.value_or("");
  });
  if (const std::string* name = survey.virtualization.get())
    check.note("machine, by systemd: " + *name);
  if (const auto* adapters = fact(check, snapshot.adapters, "adapters: not looked at")) {
    const bool bound = std::all_of(adapters->begin(), adapters->end(), [](const Adapter& adapter) {
      return adapter.driver.is(kDriverModule) && adapter.net_driver.is_known();
    });
    check.add(!adapters->empty() && bound ? Standing::Good : Standing::Plain,
              listed(*adapters, "no PVRDMA function (15ad:0820)", pair_line, "; "));
    for (const Adapter& adapter : *adapters)
      for (const Error* error : {adapter.driver.error(), adapter.net_driver.error()})
        if (error != nullptr) check.unread.push_back(error->message());
  }
  tell(check, survey.mellanox, "", [](const std::vector<std::string>& functions) {
    return functions.empty() ? std::string{"no other RDMA adapter is passed through"}
                             : "passed through: " + joined(functions);
  });
  return check;
}

Check nodes(const Snapshot& snapshot, const Survey& survey) {
  Check check{"devices", Concern::Nodes};
  const auto needed = needed_nodes(snapshot);
  std::size_t open = 0;
  for (const std::string& name : needed) {
    const DeviceNode* node = find_node(survey, name);
    if (node == nullptr) continue;
    if (const Error* error = node->openable.error()) check.unread.push_back(error->message());
    if (node->openable.is(true)) ++open;
  }
  if (const Error* error = survey.nodes.error()) {
    check.unread.push_back(error->message());
    return check;
  }
  const auto* found = survey.nodes.get();
  check.add(!needed.empty() && open == needed.size() ? Standing::Good : Standing::Plain,
            found == nullptr ? "no /dev/infiniband"
                             : "/dev/infiniband: " + listed(*found, "empty", node_line));
  return check;
}

Standing standing_of(const Libraries& libraries) {
  if (libraries.verbs.empty() || libraries.providers.empty() || !libraries.driver_file.is_known())
    return Standing::Plain;
  // Where libibverbs has no private interface, as a vendor's, nothing tells which provider fits.
  const auto& wanted = libraries.verbs.front().private_abi;
  if (!wanted.is_known()) return Standing::Unknown;
  const bool fits =
      std::any_of(libraries.providers.begin(), libraries.providers.end(),
                  [&](const VerbsLibrary& provider) { return provider.private_abi == wanted; });
  return fits ? Standing::Good : Standing::Plain;
}

Check libraries(const Survey& survey) {
  Check check{"libraries", Concern::Libraries};
  const Libraries* found = fact(check, survey.libraries, "libibverbs: not looked for");
  if (found == nullptr) return check;
  check.standing = standing_of(*found);
  const auto line = [&](const char* what, const VerbsLibrary& library) {
    check.note(std::string{what} + library.path + " (private interface " +
               (library.private_abi.is_known() ? std::to_string(*library.private_abi.get())
                                               : "not known") +
               ")");
    if (const Error* error = library.private_abi.error()) check.unread.push_back(error->message());
  };
  for (const VerbsLibrary& library : found->verbs) line("", library);
  for (const VerbsLibrary& library : found->providers) line("provider: ", library);
  tell(check, found->driver_file, "no file of /etc/libibverbs.d names vmw_pvrdma",
       [](const std::string& file) { return "named by " + file; });
  for (const std::string& trace : found->vendor) check.note("vendor's: " + trace);
  return check;
}

}  // namespace

std::vector<Check> checks(const Config& config, const Snapshot& snapshot, const Survey& survey) {
  std::vector<Check> all{hardware(snapshot, survey),
                         modules(snapshot),
                         refusals(snapshot, survey),
                         links(snapshot),
                         ports(snapshot),
                         gids(config, snapshot),
                         nodes(snapshot, survey),
                         libraries(survey),
                         memlock(survey),
                         holders(snapshot, survey),
                         boot(snapshot, survey),
                         guest(snapshot, survey),
                         clock_row(survey)};
  std::erase_if(all,
                [](const Check& check) { return check.evidence.empty() && check.unread.empty(); });
  return all;
}

std::string_view verdict(const Check& check, const std::vector<Finding>& findings) {
  std::optional<Severity> worst;
  for (const Finding& finding : findings)
    if (concerns(finding.id, check.concern))
      worst = std::max(worst.value_or(Severity::Info), finding.severity);
  if (worst && *worst != Severity::Info) return to_string(*worst);
  if (!check.unread.empty() || check.standing == Standing::Unknown) return "unknown";
  return worst || check.standing != Standing::Good ? "info" : "good";
}

}  // namespace pvrdma::doctor
