#include "agent/tools/doctor/machine_rows.hpp"

#include <algorithm>

#include "agent/tools/doctor/rows.hpp"
#include "agent/tools/doctor/support_matrix.hpp"
#include "agent/tools/doctor/surroundings.hpp"

namespace pvrdma::doctor {

namespace {

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

}  // namespace

Check memlock(const Survey& survey) {
  Check check{"memlock", Concern::Memlock};
  if (const auto* own = fact(check, survey.own_memlock, "this process: not looked at")) {
    const bool exempt = survey.may_lock_all.is(true);
    check.add(
        exempt ? Standing::Good : standing_of(*own),
        "this process: " + text_of(*own) + (exempt ? ", which does not count (CAP_IPC_LOCK)" : ""));
    if (const Error* error = survey.may_lock_all.error(); error != nullptr && is_low(*own))
      check.unread.push_back(error->message());
  }
  tell(check, survey.login_memlock, "logins: pam_limits sets no limit here",
       [](const MemlockLimit& limit) {
         return "logins: " + text_of(limit) + " (" + limit.place + ")";
       });
  if (const MemlockLimit* login = survey.login_memlock.get())
    check.standing = std::max(check.standing.value_or(Standing::Good), standing_of(*login));
  for (const UnitMemlock& unit : survey.unit_memlocks) {
    if (const Error* error = unit.limit.error()) check.unread.push_back(error->message());
    if (unit.limit.is_absent()) check.plain(unit.unit + ": no such unit");
    if (const MemlockLimit* limit = unit.limit.get())
      check.add(standing_of(*limit), unit.unit + ": " + text_of(*limit));
  }
  return check;
}

Check holders(const Snapshot& snapshot, const Survey& survey) {
  Check check{"holders", Concern::Holders};
  if (const Error* error = snapshot.holders.error()) check.unread.push_back(error->message());
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
                     return "held by " + holder.command + " (PID " + std::to_string(holder.pid) +
                            ", " + holder.rdma_device + ")";
                   }));
  return check;
}

// Looked at only where there is an adapter; a container's files are not those that boot.
Check boot(const Snapshot& snapshot, const Survey& survey) {
  Check check{"boot", Concern::Boot};
  if (!has_adapters(snapshot) || survey.container.is_known()) return check;
  tell(check, snapshot.initramfs, "initramfs: none", [](const Initramfs& image) {
    return image.path +
           (image.older_than.empty() ? ": not too old" : ": older than " + image.older_than);
  });
  for (const BootScript& script : snapshot.boot_scripts)
    check.plain("reloads the driver at every boot: " + script.path);
  if (snapshot.boot_scripts.empty()) check.good("no script reloads the driver at boot");
  tell(check, snapshot.customization, "",
       [](const std::string& what) { return "this VM is being customized by " + what; });
  const Initramfs* image = snapshot.initramfs.get();
  if ((image != nullptr && !image->older_than.empty()) || snapshot.customization.is_known())
    check.standing = std::max(*check.standing, Standing::Plain);
  return check;
}

Check guest(const Snapshot& snapshot, const Survey& survey) {
  Check check{"guest", Concern::Guest};
  if (const OsRelease* os = fact(check, survey.os, "no os-release")) {
    // An image's distribution says nothing about the kernel below it.
    const bool counts = !survey.container.is_known();
    check.add(counts ? standing_of(support_of(*os, snapshot.kernel.value_or(""))) : Standing::Plain,
              os->name);
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

}  // namespace pvrdma::doctor
