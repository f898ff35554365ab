// SPDX-License-Identifier: GPL-2.0-or-later
// Findings about the machine as a whole.
#include "agent/model/catalogue.hpp"

namespace pvrdma {

namespace {

constexpr const char* kDriverHangs =
    "The kernel's log tells why; `pvrdma-agentctl doctor` names an oops, after which only a reboot "
    "helps. Where a device no longer answers, each of its commands ends after ten seconds.";

constexpr CatalogueEntry kMachineEntries[] = {
    {FindingId::NoAdapter, "no-adapter", "", "d28ba4f6f48751b8ab2c147ffe1a36ca", Severity::Error,
     Actor::Host, Concern::Adapters,
     "No PVRDMA function is in this VM, but {required} adapter(s) are required by "
     "readiness.adapters.",
     "In vSphere give the VM a network adapter of type PVRDMA, connected at power on; it needs "
     "hardware version 13 or later."},
    {FindingId::AdapterRemoved, "adapter-removed", "", "49474437456c50a39113d0f857f92ea4",
     Severity::Warning, Actor::Host, Concern::Adapters,
     "Adapter {adapter} was removed from this VM at {time}.",
     "If that was intended, `pvrdma-agentctl acknowledge` ends this finding, or it ends by itself "
     "after {patience} (readiness.forget_removed). Otherwise connect it again in vSphere."},
    {FindingId::DriverNotShipped, "driver-not-shipped", "", "3c2fc9cfa9d75fe69271d2af398d3284",
     Severity::Error, Actor::Image, Concern::Modules | Concern::Containers,
     "The kernel {kernel} does not ship vmw_pvrdma.",
     "Boot a kernel that has it, or build the module for this one; `pvrdma-agentctl doctor` has "
     "the commands of Debian, Ubuntu and Enterprise Linux."},
    // Only pvrdma-agentctl's tools know the distribution. Each variant needs a summary of its own,
    // since a finding's variant is found by its summary.
    {FindingId::DriverNotShipped, "driver-not-shipped", "ubuntu-extra",
     "3c2fc9cfa9d75fe69271d2af398d3284", Severity::Error, Actor::Image,
     Concern::Modules | Concern::Containers,
     "Ubuntu's kernel {kernel} is installed without its extra modules, and so without vmw_pvrdma.",
     "Install the package with them, and linux-image-generic, which brings them with each later "
     "kernel; linux-image-virtual does not.",
     "",
     "apt-get install linux-modules-extra-{kernel}\n"
     "apt-get install linux-image-generic    # HWE kernels: linux-image-generic-hwe-22.04 or the "
     "like"},
    {FindingId::DriverNotShipped, "driver-not-shipped", "ubuntu",
     "3c2fc9cfa9d75fe69271d2af398d3284", Severity::Error, Actor::Image,
     Concern::Modules | Concern::Containers,
     "Ubuntu's kernel {kernel} is installed without vmw_pvrdma, which the package linux-modules "
     "has.",
     "Install that package again; kernels for a cloud may lack the driver: boot a generic one.", "",
     "apt-get install --reinstall linux-modules-{kernel}"},
    {FindingId::DriverNotShipped, "driver-not-shipped", "debian",
     "3c2fc9cfa9d75fe69271d2af398d3284", Severity::Error, Actor::Image,
     Concern::Modules | Concern::Containers, "Debian's kernel {kernel} does not ship vmw_pvrdma.",
     "Have DKMS build it from Debian's source of the kernel, by the package vmw-pvrdma-dkms that "
     "is "
     "made together with pvrdma-agent's.",
     "",
     "apt-get install linux-headers-{kernel} linux-source\n"
     "apt-get install ./vmw-pvrdma-dkms_*_all.deb"},
    {FindingId::DriverNotShipped, "driver-not-shipped", "el9", "3c2fc9cfa9d75fe69271d2af398d3284",
     Severity::Error, Actor::Image, Concern::Modules | Concern::Containers,
     "The kernel {kernel} of this Enterprise Linux is installed without vmw_pvrdma, which releases "
     "before 10 have for x86_64.",
     "Install the kernel's package that dnf names.", "",
     "dnf provides '/lib/modules/{kernel}/*/vmw_pvrdma.ko.xz'\n"
     "dnf install kernel-modules-{kernel} kernel-modules-extra-{kernel}"},
    {FindingId::DriverNotShipped, "driver-not-shipped", "el10", "3c2fc9cfa9d75fe69271d2af398d3284",
     Severity::Error, Actor::Image, Concern::Modules | Concern::Containers,
     "The kernel {kernel} of this Enterprise Linux does not ship vmw_pvrdma: release 10 builds "
     "none.",
     "Have DKMS (of EPEL) build it from the kernel's source rpm, by the package vmw-pvrdma-dkms "
     "that is made together with pvrdma-agent's.",
     "",
     "dnf install dkms dnf-plugins-core kernel-devel-{kernel}    # dkms is of EPEL: enable that "
     "first\n"
     "dnf download --source kernel-core-{kernel}\n"
     "rpm2cpio kernel-*.src.rpm | cpio -i 'linux-*.tar.xz'\n"
     "install -m 644 linux-*.tar.xz /usr/src/linux-source-6.12.tar.xz\n"
     "dnf install ./vmw-pvrdma-dkms-*.noarch.rpm"},
    {FindingId::DriverBuiltIn, "driver-built-in", "", "04fe861108b35fd9b08bb5bd1dc81b65",
     Severity::Warning, Actor::Guest, Concern::Readiness | Concern::Modules,
     "vmw_pvrdma ought to be reloaded ({reason}), but it is built into this kernel and has several "
     "adapters.",
     "Only a reboot pairs all of them again."},
    {FindingId::InitramfsOld, "initramfs-old", "", "bf1cd5992489585db11febe09b248e90",
     Severity::Info, Actor::Guest, Concern::Boot,
     "{image} was built before {newer} was changed: at the next boot it may load vmw_pvrdma out of "
     "order.",
     "Refresh it: update-initramfs -u -k {kernel} on Debian and Ubuntu; where that command is "
     "missing, as on Enterprise Linux, /usr/libexec/pvrdma-agent/refresh-initramfs --force."},
    {FindingId::ModuleNotShipped, "module-not-shipped", "required",
     "c98098df53375042a769774db9da54eb", Severity::Error, Actor::Image, Concern::Modules,
     "The kernel {kernel} does not ship {module}. It is required.",
     "Install the package with this kernel's extra modules (Ubuntu up to 24.04: linux-modules-"
     "extra; Enterprise Linux: kernel-modules-extra), or take it off modules.required."},
    {FindingId::ModuleNotShipped, "module-not-shipped", "optional",
     "c98098df53375042a769774db9da54eb", Severity::Info, Actor::Guest, Concern::Modules,
     "The kernel {kernel} does not ship {module}. The adapters work without it.",
     "To avoid this finding, take it off modules.before."},
    {FindingId::ModuleBlocked, "module-blocked", "required", "45abaa93dd4949638e98b58efaf1381d",
     Severity::Error, Actor::Guest, Concern::Modules | Concern::Blocks,
     "{module} is kept from being loaded: {how}.",
     "Take that out of modprobe.d, or off the kernel's command line; where a hardening guide put "
     "it there, that guide's rule needs an exception on a machine with RDMA. After that the agent "
     "loads the module by itself."},
    {FindingId::ModuleBlocked, "module-blocked", "optional", "45abaa93dd4949638e98b58efaf1381d",
     Severity::Warning, Actor::Guest, Concern::Modules | Concern::Blocks,
     "{module} is kept from being loaded: {how}.",
     "Take that out of modprobe.d, or off the kernel's command line; where that is intended, take "
     "the module off modules.before."},
    {FindingId::ModuleBlocked, "module-blocked", "loaded", "45abaa93dd4949638e98b58efaf1381d",
     Severity::Warning, Actor::Guest, Concern::Modules | Concern::Blocks,
     "{module} is loaded, but is kept from being loaded again: {how}.",
     "Take that out of modprobe.d, or off the kernel's command line, before the next boot or "
     "reload."},
    {FindingId::ModuleBlocked, "module-blocked", "unknown", "45abaa93dd4949638e98b58efaf1381d",
     Severity::Warning, Actor::Guest, Concern::Modules | Concern::Blocks,
     "{module} could not be loaded, and it is not known whether modprobe.d blocks it: {error}.",
     "The agent is not root: `chmod o+r` on that file, or o+rx on that folder, lets the agent name "
     "the line. `pvrdma-agentctl doctor` as root names it without that."},
    {FindingId::ModuleRefused, "module-refused", "", "7fc19c4a4a2e5610a34ee21581649541",
     Severity::Warning, Actor::Guest, Concern::Modules | Concern::Blocks,
     "The kernel refuses {module}: {error}.",
     "With Secure Boot a module must be signed by a key the kernel trusts; see also modprobe.d for "
     "block lists."},
    {FindingId::ModuleRefused, "module-refused", "loading", "7fc19c4a4a2e5610a34ee21581649541",
     Severity::Warning, Actor::Guest, Concern::Modules | Concern::Blocks,
     "{module} has been loading for more than a minute, so vmw_pvrdma no longer waits for it.",
     "The kernel's log tells why; only a reboot ends the load of a module that hangs."},
    {FindingId::ModuleRefused, "module-refused", "loading-required",
     "7fc19c4a4a2e5610a34ee21581649541", Severity::Error, Actor::Guest,
     Concern::Modules | Concern::Blocks,
     "{module} has been loading for more than a minute, so vmw_pvrdma no longer waits for it. It "
     "is required.",
     "The kernel's log tells why; only a reboot ends the load of a module that hangs."},
    {FindingId::ModuleRefused, "module-refused", "driver-loads", "7fc19c4a4a2e5610a34ee21581649541",
     Severity::Error, Actor::Guest, Concern::Modules | Concern::Blocks,
     "{module} has been loading for more than a minute: a probe hangs in the kernel.",
     kDriverHangs},
    {FindingId::ModuleRefused, "module-refused", "driver-leaves",
     "7fc19c4a4a2e5610a34ee21581649541", Severity::Error, Actor::Guest,
     Concern::Modules | Concern::Blocks,
     "{module} has been leaving the kernel for more than a minute.", kDriverHangs},
    {FindingId::DriverInUse, "driver-in-use", "", "b743dbb6cd7354f69ce22dfb7ef69d45",
     Severity::Warning, Actor::Agent, Concern::Readiness | Concern::Modules | Concern::Holders,
     "vmw_pvrdma ought to be reloaded ({reason}), but is held by {who}.",
     "Nothing is unloaded while a process holds an adapter, or the kernel itself uses one (NFS, "
     "NVMe "
     "or SMB over RDMA). The reload follows by itself once that has ended."},
    {FindingId::DriverInUse, "driver-in-use", "release", "b743dbb6cd7354f69ce22dfb7ef69d45",
     Severity::Warning, Actor::Guest, Concern::Readiness | Concern::Modules | Concern::Holders,
     "vmw_pvrdma was unbound from {function}, or the function was removed, and the kernel waits "
     "for the processes that have its RDMA device open.",
     "End these processes; the driver is then bound again, if the function is still there. Their "
     "node in /dev/infiniband is gone, so fuser does not find them, but as root `find "
     "/proc/[0-9]*/fd -lname '*/infiniband/uverbs*(deleted)'` does: the number after /proc/ is the "
     "process's. For a container's own node the word (deleted) may be missing."},
    {FindingId::HoldersUnknown, "holders-unknown", "", "1322fe1dea705ef790a18b1130ee2dc2",
     Severity::Warning, Actor::Guest, Concern::Readiness | Concern::Modules | Concern::Holders,
     "vmw_pvrdma ought to be reloaded ({reason}), but it is not known whether a program holds an "
     "adapter: {error}.",
     "Nothing is unloaded while this is so. When no RDMA program runs and nothing is mounted over "
     "RDMA, `modprobe -r vmw_pvrdma` by hand is safe: the kernel refuses it while a program has an "
     "adapter open. As root, `fuser -v /dev/infiniband/uverbs*` names the processes that have an "
     "adapter open."},
    {FindingId::ReloadForbidden, "reload-forbidden", "", "1ec28e69dd1358c0a57d3866c397e56c",
     Severity::Warning, Actor::Guest, Concern::Readiness | Concern::Modules,
     "vmw_pvrdma ought to be reloaded ({reason}), but modules.reload is \"never\".",
     "Set modules.reload to \"auto\"; or run `modprobe -r vmw_pvrdma` when no job runs: the agent "
     "loads it again, one adapter after another."},
    {FindingId::ReloadForbidden, "reload-forbidden", "start", "1ec28e69dd1358c0a57d3866c397e56c",
     Severity::Warning, Actor::Guest, Concern::Readiness | Concern::Modules,
     "vmw_pvrdma ought to be reloaded ({reason}), but without a valid configuration the agent "
     "reloads nothing.",
     "Mend the configuration, as config-bad says; or run `modprobe -r vmw_pvrdma` when no job "
     "runs: the agent loads it again, one adapter after another."},
    {FindingId::BootScript, "boot-script", "", "939db618cb165614809f20bc08e55817", Severity::Info,
     Actor::Guest, Concern::Boot,
     "{script} loads or unloads vmw_pvrdma at every boot, beside this agent.",
     "`pvrdma-agentctl migrate` shows which lines the agent makes needless; with --apply it "
     "comments out the simple ones."},
    {FindingId::ReloadWaits, "reload-waits", "", "c803b6d739485fd0bc3fa235b491580b",
     Severity::Warning, Actor::Agent, Concern::Modules | Concern::Boot,
     "vmw_pvrdma ought to be reloaded ({reason}), but {script} does that itself and has not ended "
     "in this boot.",
     "The reload follows by itself, if it is still needed then. `pvrdma-agentctl migrate` moves "
     "the script's part to this agent."},
    {FindingId::ReloadWaits, "reload-waits", "unknown", "c803b6d739485fd0bc3fa235b491580b",
     Severity::Warning, Actor::Guest, Concern::Modules | Concern::Boot,
     "vmw_pvrdma ought to be reloaded ({reason}), but it is not known whether a script of this "
     "machine does that itself: {error}.",
     "A program that a unit, a crontab or rc.local runs may be on a network file system that does "
     "not answer. The reload follows by itself once it does."},
    {FindingId::LedgerUnusable, "ledger-unusable", "", "18023474ef5d46008926d898849b9ba7",
     Severity::Warning, Actor::Guest, Concern::Readiness | Concern::Modules,
     "vmw_pvrdma ought to be reloaded ({reason}), but how often that was done in this boot is not "
     "known: {error}.",
     "The driver is not reloaded without being counted. Make room in /run, or see `journalctl -u "
     "pvrdma-agent-executor`; the agent goes on by itself within a minute or two."},
    {FindingId::ExecutorStuck, "executor-stuck", "", "f804fdaee3915d6d95dd49c91b228e6f",
     Severity::Error, Actor::Guest, Concern::Modules,
     "The executor has not answered {call} since {since}.",
     "See `journalctl -u pvrdma-agent-executor` and dmesg: systemd cannot start the executor, or "
     "the executor is stuck in the kernel, where it cannot be killed. Nothing else is tried until "
     "it answers."},
    {FindingId::LookStuck, "look-stuck", "", "7254fc38aacd46c68b7072a9fcef2476", Severity::Warning,
     Actor::Guest, Concern::Ports,
     "The agent's look at the adapters has not come back from the kernel since {since}.",
     "This health is from an earlier look. See dmesg: the cause is a device that no longer "
     "answers, or a bus or module operation that hangs. The agent goes on by itself once the look "
     "returns."},
    {FindingId::ExecutorMissing, "executor-missing", "", "4562bd550d4d4ac1bf919618fda8e095",
     Severity::Error, Actor::Guest, Concern::Readiness | Concern::Modules,
     "Nothing can be done for the adapters, as the executor cannot be asked: {error}.",
     "See `systemctl status pvrdma-agent-executor.socket`; `systemctl unmask` it where it is "
     "masked, then `systemctl start` it. The agent tries again by itself."},
    {FindingId::ConfigBad, "config-bad", "file", "1fe3d02b9cbd50aa971bf95fc541685b",
     Severity::Warning, Actor::Guest, Concern::Links,
     "The configuration on disk is invalid; the last valid one stays in use: {error}",
     "Mend the file, try it with `pvrdma-agent --check-config`, then `systemctl reload "
     "pvrdma-agent`."},
    {FindingId::ConfigBad, "config-bad", "start", "1fe3d02b9cbd50aa971bf95fc541685b",
     Severity::Warning, Actor::Guest, Concern::Links,
     "The configuration on disk is invalid, so the agent does only what cannot harm (it loads the "
     "default modules, binds functions and brings up links that nothing else manages; no MTU, no "
     "address, no reload): {error}",
     "Mend the file, and try it with `pvrdma-agent --check-config`. The agent then applies it "
     "within half a minute, or at once after `systemctl reload pvrdma-agent`."},
    {FindingId::ConfigBad, "config-bad", "guestinfo", "1fe3d02b9cbd50aa971bf95fc541685b",
     Severity::Warning, Actor::Host, Concern::Links,
     "The configuration from vSphere is not used, only that of this machine: {error}",
     "Mend it in the VM's settings, then `systemctl start pvrdma-agent-guestinfo` and `systemctl "
     "reload pvrdma-agent`; guestinfo.enabled = false ignores it."},
    {FindingId::ConfigBad, "config-bad", "tables", "1fe3d02b9cbd50aa971bf95fc541685b",
     Severity::Warning, Actor::Guest, Concern::Links,
     "Two [[adapter]] tables of the configuration, {tables}, name one adapter, {adapter}: its link "
     "is left as it is.",
     "Put what both say into one of them, then `systemctl reload pvrdma-agent`."},
    {FindingId::CustomizationAwaited, "customization-awaited", "",
     "27b490a849e552dc8f933080cdf21be2", Severity::Info, Actor::Agent, Concern::Boot,
     "Addresses and MTU wait for {what}, which has not ended.",
     "They follow once it has, with the configuration as it is then, and after {patience} in any "
     "case."},
    {FindingId::CustomizationLate, "customization-late", "", "3ee00791a06d531fb4f2d2059678875e",
     Severity::Warning, Actor::Guest, Concern::Boot,
     "Addresses and MTU did not wait any longer for {what}, which has not ended within {patience}.",
     "See `cloud-init status --long`, or /var/log/vmware-imc/toolsDeployPkg.log. The configuration "
     "is read again when it ends."},
    {FindingId::ConfigMatchesNothing, "config-matches-nothing", "",
     "682b7f1430db55abaad3e6a6d3121ef6", Severity::Warning, Actor::Guest, Concern::Links,
     "An [[adapter]] of the configuration, {match}, is no adapter of this VM.",
     "Compare with `pvrdma-agentctl status`; a clone has other MAC addresses."},
};

}  // namespace

std::span<const CatalogueEntry> machine_findings() { return kMachineEntries; }

}  // namespace pvrdma
