#include "agent/plan/doctor/checks.hpp"

#include <algorithm>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/plan/doctor/adapter_rows.hpp"
#include "agent/plan/doctor/support_matrix.hpp"
#include "agent/plan/doctor/surroundings.hpp"

namespace pvrdma::doctor {

namespace {

void add_once(std::vector<std::string>& lines, std::string line) {
  if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
}

// The field's text as evidence; what is unreadable goes where that goes.
template <typename T, typename Text>
void tell(Check& check, const Field<T>& field, const std::string& absent, Text text) {
  if (const T* value = field.get())
    check.evidence.push_back(text(*value));
  else if (const Error* error = field.error())
    check.unread.push_back(error->message());
  else if (!absent.empty())
    check.evidence.push_back(absent);
}

// "a, b, c": a text for each; `none` where there is nothing.
template <typename Range, typename Text>
std::string listed(const Range& range, const char* none, Text text, const char* separator = ", ") {
  std::string list;
  for (const auto& one : range) list += (list.empty() ? "" : separator) + text(one);
  return list.empty() ? none : list;
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
  Check check{
      "modules",
      {},
      {},
      {"driver-not-shipped", "module-not-shipped", "module-refused", "driver-built-in",
       "reload-forbidden", "driver-in-use", "holders-unknown", "reload-waits", "module-blocked",
       "driver-unsigned", "executor-stuck", "action-failed", "giving-up"}};
  std::vector<const Module*> sorted;
  for (const Module& module : snapshot.modules) sorted.push_back(&module);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Module* a, const Module* b) {
    return a->load_order.value_or(~0U) < b->load_order.value_or(~0U);
  });
  for (const Module* module : sorted) {
    check.evidence.push_back(module_line(*module));
    for (const Error* error : {module->init.error(), module->shipped.error()})
      if (error != nullptr) add_once(check.unread, error->message());
  }
  return check;
}

Check refusals(const Snapshot& snapshot, const Survey& survey) {
  Check check{"blocks", {}, {}, {"module-blocked", "driver-unsigned", "module-refused"}};
  tell(check, survey.blocks, "", [](const std::vector<ModuleBlock>& blocks) {
    return listed(
        blocks, "modprobe.d and the command line block no module",
        [](const ModuleBlock& block) { return block.module + ": " + block.how; }, "; ");
  });
  tell(check, survey.secure_boot, "Secure Boot: not booted by EFI",
       [](bool on) { return std::string{"Secure Boot: "} + (on ? "on" : "off"); });
  const Module* driver = snapshot.module(kDriverModule);
  if (driver != nullptr && driver->shipped.is(Shipped::Loadable))
    tell(check, survey.driver_signer, "vmw_pvrdma is not signed",
         [](const std::string& signer) { return "vmw_pvrdma is signed by " + signer; });
  return check;
}

Check hardware(const Snapshot& snapshot, const Survey& survey) {
  Check check{"adapters",
              {},
              {},
              {"no-adapter", "no-rdma-function", "adapter-removed", "no-vmxnet3-pair", "first-nic",
               "mixed-passthrough"}};
  tell(check, survey.vendor, "machine: DMI does not say", [&](const std::string& vendor) {
    return "machine: " + vendor + " " + survey.product.value_or("");
  });
  tell(check, snapshot.adapters, "", [](const std::vector<Adapter>& adapters) {
    return listed(adapters, "no PVRDMA function (15ad:0820)", pair_line, "; ");
  });
  tell(check, survey.mellanox, "", [](const std::vector<std::string>& functions) {
    return functions.empty() ? std::string{"no other RDMA adapter is passed through"}
                             : "passed through: " + joined(functions);
  });
  return check;
}

Check nodes(const Survey& survey) {
  Check check{"devices", {}, {}, {"nodes-missing", "nodes-closed"}};
  tell(check, survey.nodes, "no /dev/infiniband", [](const std::vector<DeviceNode>& found) {
    return "/dev/infiniband: " + listed(found, "empty", node_line);
  });
  return check;
}

Check libraries(const Survey& survey) {
  Check check{"libraries",
              {},
              {},
              {"verbs-missing", "provider-missing", "provider-mismatch", "vendor-libraries",
               "verbs-unusable"}};
  const Libraries* found = survey.libraries.get();
  if (const Error* error = survey.libraries.error()) check.unread.push_back(error->message());
  if (found == nullptr) return check;
  const auto line = [&](const char* what, const VerbsLibrary& library) {
    check.evidence.push_back(std::string{what} + library.path + " (private interface " +
                             (library.private_abi.is_known()
                                  ? std::to_string(*library.private_abi.get())
                                  : "not known") +
                             ")");
    if (const Error* error = library.private_abi.error()) check.unread.push_back(error->message());
  };
  for (const VerbsLibrary& library : found->verbs) line("", library);
  for (const VerbsLibrary& library : found->providers) line("provider: ", library);
  tell(check, found->driver_file, "no file of /etc/libibverbs.d names vmw_pvrdma",
       [](const std::string& file) { return "named by " + file; });
  for (const std::string& trace : found->vendor) check.evidence.push_back("vendor's: " + trace);
  return check;
}

Check memlock(const Survey& survey) {
  Check check{"memlock", {}, {}, {"memlock-low", "no-such-unit"}};
  tell(check, survey.own_memlock, "", [&](const MemlockLimit& limit) {
    return "this process: " + text_of(limit) +
           (survey.may_lock_all.is(true) ? ", which does not count (CAP_IPC_LOCK)" : "");
  });
  tell(check, survey.login_memlock, "logins: pam_limits sets none", [](const MemlockLimit& limit) {
    return "logins: " + text_of(limit) + " (" + limit.place + ")";
  });
  for (const UnitMemlock& unit : survey.unit_memlocks)
    tell(check, unit.limit, unit.unit + ": no such unit",
         [&](const MemlockLimit& limit) { return unit.unit + ": " + text_of(limit); });
  return check;
}

Check holders(const Snapshot& snapshot) {
  Check check{"holders", {}, {}, {"driver-in-use", "holders-unknown"}};
  tell(check, snapshot.holders, "", [](const std::vector<Holder>& found) {
    return listed(found, "no process holds an adapter", [](const Holder& holder) {
      return "held by " + holder.command + " (PID " + std::to_string(holder.pid) + ", " +
             holder.rdma_device + ")";
    });
  });
  return check;
}

Check boot(const Snapshot& snapshot) {
  Check check{"boot",
              {},
              {},
              {"initramfs-old", "boot-script", "boot-slow", "reload-waits", "customization-awaited",
               "customization-late"}};
  tell(check, snapshot.initramfs, "initramfs: none", [](const Initramfs& image) {
    return image.path +
           (image.older_than.empty() ? ": not too old" : ": older than " + image.older_than);
  });
  for (const BootScript& script : snapshot.boot_scripts)
    check.evidence.push_back("reloads the driver at every boot: " + script.path);
  if (snapshot.boot_scripts.empty())
    check.evidence.emplace_back("no script reloads the driver at boot");
  tell(check, snapshot.customization, "",
       [](const std::string& what) { return "this VM is being customized by " + what; });
  return check;
}

Check guest(const Snapshot& snapshot, const Survey& survey) {
  Check check{"guest", {}, {}, {"guest-unlisted", "driver-crashed", "kernel-crashed"}};
  tell(check, survey.os, "no os-release", [](const OsRelease& os) { return os.name; });
  tell(check, snapshot.kernel, "", [](const std::string& kernel) { return "Linux " + kernel; });
  tell(check, survey.container, "", [](const std::string& by) { return "a container of " + by; });
  tell(check, survey.crash, "the kernel has not crashed in this boot",
       [](const KernelCrash& crash) {
         return "crashed: " + (crash.line.empty() ? "taint flag D" : crash.line);
       });
  return check;
}

Check clock_row(const Survey& survey) {
  Check check{"clock", {}, {}, {"clock-off"}};
  tell(check, survey.clock.synchronized, "",
       [](bool yes) { return std::string{yes ? "synchronized" : "not synchronized (adjtimex)"}; });
  tell(check, survey.clock.off_rtc_seconds, "",
       [](std::int64_t seconds) { return std::to_string(seconds) + " s from the hardware clock"; });
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
                         nodes(survey),
                         libraries(survey),
                         memlock(survey),
                         holders(snapshot),
                         boot(snapshot),
                         guest(snapshot, survey),
                         clock_row(survey)};
  std::erase_if(all,
                [](const Check& check) { return check.evidence.empty() && check.unread.empty(); });
  return all;
}

}  // namespace pvrdma::doctor
