// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/doctor/checks.hpp"

#include "agent/base/format.hpp"
#include "agent/base/text.hpp"
#include "agent/tools/doctor/rows.hpp"
#include "agent/tools/doctor/support_matrix.hpp"
#include "agent/tools/doctor/surroundings.hpp"

namespace pvrdma::doctor {

namespace {

// "uverbs0 (0666, open to this user)"
std::string node_line(const DeviceNode& node) {
  const char* access = node.openable.is(true)    ? ""
                       : node.openable.is(false) ? ", closed to this user"
                                                 : ", ?";
  return formatted("{} ({:04o}{})", node.name, node.mode, access);
}

Check nodes(const Snapshot& snapshot, const Survey& survey) {
  Check check{"devices", Concern::Nodes};
  take_error(check, survey.nodes);
  if (survey.nodes.is_unreadable()) return check;
  const auto needed = needed_nodes(snapshot);
  std::size_t open = 0;
  for (const std::string& name : needed) {
    const DeviceNode* node = find_node(survey, name);
    if (node == nullptr) continue;
    take_error(check, node->openable);
    if (node->openable.is(true)) ++open;
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
  // A vendor's libibverbs has no private interface; then nothing tells which provider fits.
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
    const unsigned* abi = library.private_abi.get();
    check.note(formatted("{}{} (private interface {})", what, library.path,
                         abi != nullptr ? std::to_string(*abi) : "not known"));
    take_error(check, library.private_abi);
  };
  for (const VerbsLibrary& library : found->verbs) line("", library);
  for (const VerbsLibrary& library : found->providers) line("provider: ", library);
  tell(check, found->driver_file, "no file of " + found->driver_folder + " names vmw_pvrdma",
       [](const std::string& file) { return "named by " + file; });
  for (const std::string& trace : found->vendor) check.note("vendor's: " + trace);
  return check;
}

Standing standing_of(const MemlockLimit& limit) {
  return is_low(limit) ? Standing::Plain : Standing::Good;
}

bool has_adapters(const Snapshot& snapshot) {
  return snapshot.adapters.is_known() && !snapshot.adapters.get()->empty();
}

Standing standing_of(Support support) {
  if (support == Support::Unknown) return Standing::Unknown;
  return support == Support::RoceV2 ? Standing::Good : Standing::Plain;
}

Check memlock(const Survey& survey) {
  Check check{"memlock", Concern::Memlock};
  if (const auto* own = fact(check, survey.own_memlock, "this process: not looked at")) {
    const bool exempt = survey.may_lock_all.is(true);
    check.add(
        exempt ? Standing::Good : standing_of(*own),
        "this process: " + text_of(*own) + (exempt ? ", which does not count (CAP_IPC_LOCK)" : ""));
    if (is_low(*own)) take_error(check, survey.may_lock_all);
  }
  // Of a container's logins nothing but pam_limits is looked at.
  tell(check, survey.login_memlock,
       survey.container.is_known() ? "logins: pam_limits sets no limit here"
                                   : "logins: the limit is not known here",
       [](const MemlockLimit& limit) {
         return "logins: " + text_of(limit) + " (" + limit.place + ")";
       });
  if (const MemlockLimit* login = survey.login_memlock.get()) check.count(standing_of(*login));
  for (const UnitMemlock& unit : survey.unit_memlocks) {
    take_error(check, unit.limit);
    if (unit.limit.is_absent()) check.plain(unit.unit + ": no such unit");
    if (const MemlockLimit* limit = unit.limit.get())
      check.add(standing_of(*limit), unit.unit + ": " + text_of(*limit));
  }
  return check;
}

Check holders(const Snapshot& snapshot, const Survey& survey) {
  Check check{"holders", Concern::Holders};
  take_error(check, snapshot.holders);
  const auto* found = snapshot.holders.get();
  if (found == nullptr) return check;
  // A container does not see the processes of others.
  const bool contained = survey.container.is_known();
  const bool good = found->empty() && has_adapters(snapshot) && !contained;
  check.add(good ? Standing::Good : Standing::Plain,
            listed(*found,
                   contained ? "no process of this container holds an adapter"
                             : "no process holds an adapter",
                   [](const Holder& holder) {
                     return formatted("{} is held by {}", holder.rdma_device, describe(holder));
                   }));
  return check;
}

// This is looked at only where there is an adapter. A container does not boot from its own files.
Check boot(const Snapshot& snapshot, const Survey& survey) {
  Check check{"boot", Concern::Boot};
  if (!has_adapters(snapshot) || survey.container.is_known()) return check;
  tell(check, snapshot.initramfs, "initramfs: none", [](const Initramfs& image) {
    return image.path +
           (image.older_than.empty() ? ": not too old" : ": older than " + image.older_than);
  });
  for (const ReloadLine& line : survey.reloads)
    check.plain(formatted("{}:{}, {}: {}", line.file, line.line, line.when, line.text));
  append(check.unread, survey.reloads_unread);
  if (survey.reloads.empty() && snapshot.boot_scripts.empty() && survey.reloads_unread.empty())
    check.good("nothing else reloads the driver");
  tell(check, snapshot.customization, "",
       [](const std::string& what) { return "this VM is being customized by " + what; });
  const Initramfs* image = snapshot.initramfs.get();
  if ((image != nullptr && !image->older_than.empty()) || snapshot.customization.is_known())
    check.count(Standing::Plain);
  return check;
}

Check guest(const Snapshot& snapshot, const Survey& survey) {
  Check check{"guest", Concern::Guest};
  if (const OsRelease* os = fact(check, survey.os, "no os-release")) {
    // The distribution of an image says nothing about the kernel that it runs on.
    const bool counts = !survey.container.is_known();
    const Support support = support_of(*os, snapshot.kernel.value_or(""));
    check.add(counts ? standing_of(support) : Standing::Plain, os->name);
    if (counts && support == Support::NoDriver)
      check.plain("kernels of this release are built without vmw_pvrdma");
  }
  tell(check, snapshot.kernel, "", [](const std::string& kernel) { return "Linux " + kernel; });
  tell(check, survey.container, "", [](const std::string& by) { return "a container of " + by; });
  tell(check, survey.crash, "the kernel has not crashed in this boot",
       [](const KernelCrash& crash) {
         return "crashed: " + (crash.line.empty() ? "taint flag D" : crash.line);
       });
  return check;
}

Check clock_row(const Survey& survey) {
  Check check{"clock", Concern::Clock};
  const ClockState& clock = survey.clock;
  if (const bool* yes = fact(check, clock.synchronized, "synchronization: not looked at"))
    check.add(*yes ? Standing::Good : Standing::Plain,
              *yes ? "synchronized" : "not synchronized (adjtimex)");
  tell(check, clock.off_rtc_seconds, "",
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
