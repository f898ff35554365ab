// SPDX-License-Identifier: GPL-2.0-or-later
// Findings that only `pvrdma-agentctl doctor` looks for: the surroundings in which applications use
// an adapter. The agent does not act on them, so none has a MESSAGE_ID.
#include "agent/model/catalogue.hpp"

namespace pvrdma {

namespace {

// Lines for the maker of a container image: the distribution's packages replace the vendor's. With
// -t apt takes them from the distribution's release, also if a source of the vendor has higher
// versions.
constexpr const char* kDebianLibraries =
    "RUN apt-get update && apt-get purge -y {packages} \\\n"
    " && rm -rf /opt/mellanox /etc/ld.so.conf.d/*mellanox* /etc/ld.so.conf.d/*mlnx* && ldconfig "
    "\\\n"
    " && apt-get install -y {release}--no-install-recommends rdma-core libibverbs1 \\\n"
    "      ibverbs-providers infiniband-diags ibverbs-utils perftest";
constexpr const char* kRpmLibraries =
    "rpm -qa | grep -iE 'mlnx|mellanox|ofed'\n"
    "RUN dnf remove -y $(rpm -qa | grep -iE 'mlnx|mellanox|ofed') \\\n"
    " && rm -rf /opt/mellanox /etc/ld.so.conf.d/*mellanox* /etc/ld.so.conf.d/*mlnx* && ldconfig "
    "\\\n"
    " && dnf install -y rdma-core libibverbs libibverbs-utils infiniband-diags perftest";

constexpr CatalogueEntry kDoctorEntries[] = {
    {FindingId::NoRdmaFunction, "no-rdma-function", "vmxnet3", "", Severity::Error, Actor::Host,
     Concern::Adapters, "No PVRDMA function is in this VM: beside {nics} there is none.",
     "In vSphere give the VM a network adapter of type PVRDMA, connected at power on; `doctor "
     "--host-admin` has that as a ticket."},
    {FindingId::NoRdmaFunction, "no-rdma-function", "none", "", Severity::Error, Actor::Host,
     Concern::Adapters, "No PVRDMA function is in this VM, nor any vmxnet3 NIC.",
     "In vSphere give the VM a network adapter of type PVRDMA, connected at power on; `doctor "
     "--host-admin` has that as a ticket."},
    {FindingId::NoRdmaFunction, "no-rdma-function", "elsewhere", "", Severity::Error, Actor::Guest,
     Concern::Adapters, "This machine is no VMware VM ({vendor}), and has no PVRDMA function.",
     "PVRDMA is an adapter of vSphere's; look for the machine's own RDMA devices with `rdma dev`."},
    {FindingId::NodesMissing, "nodes-missing", "guest", "", Severity::Error, Actor::Guest,
     Concern::Nodes, "/dev/infiniband lacks {nodes}: applications cannot open the device.",
     "modprobe -a ib_uverbs rdma_ucm; the agent does that at every boot. In a container that is "
     "not known as one: give it these devices."},
    {FindingId::NodesMissing, "nodes-missing", "container", "", Severity::Error, Actor::Guest,
     Concern::Nodes, "This container has no {nodes}: applications cannot open the device.",
     "Give the container these devices and no more; --privileged is not needed. With "
     "pvrdma-agent-cdi.service on the host, Docker 28.2, podman and containerd give them by name. "
     "Ranks of MPI or NCCL in one container also need a large --shm-size, ranks in several "
     "containers --ipc=host.",
     "",
     "docker run {devices} --ulimit memlock=-1 --network host IMAGE\n"
     "docker run --device pvrdma.io/adapter=all --ulimit memlock=-1 --network host IMAGE\n"
     "resources: {limits: {rdma/pvrdma: 1}}    # in a pod's spec, with an RDMA device plugin\n"
     "apptainer run --bind /dev/infiniband IMAGE    # with --contain"},
    {FindingId::NodesClosed, "nodes-closed", "", "", Severity::Warning, Actor::Guest,
     Concern::Nodes, "This user may not open {nodes}.",
     "rdma-core's udev rules give these nodes mode 0666: install it, or make the user a member of "
     "the node's group."},
    {FindingId::VerbsMissing, "verbs-missing", "", "", Severity::Error, Actor::Image,
     Concern::Libraries, "There is no libibverbs.so.1 here: no application can use RDMA.",
     "Install the distribution's rdma-core and libibverbs.", "",
     "apt-get install rdma-core libibverbs1 ibverbs-providers\n"
     "dnf install rdma-core libibverbs"},
    {FindingId::ProviderMissing, "provider-missing", "none", "", Severity::Error, Actor::Image,
     Concern::Libraries, "{library} has no provider for vmw_pvrdma: applications see no device.",
     "Install the distribution's providers (Debian, Ubuntu: ibverbs-providers; Enterprise Linux: "
     "libibverbs); a vendor's OFED brings none. An rpm database is not read here: `rpm -qf` tells "
     "whose library it is.",
     "", "apt-get install ibverbs-providers\ndnf install libibverbs"},
    {FindingId::ProviderMissing, "provider-missing", "unnamed", "", Severity::Error, Actor::Image,
     Concern::Libraries,
     "The provider {provider} is there, but no file of {folder} names it: applications see no "
     "device.",
     "Install the distribution's package, whole, or write that file. No reload of the driver "
     "helps.",
     "",
     "mkdir -p {folder}\n"
     "echo 'driver vmw_pvrdma' >{folder}/vmw_pvrdma.driver"},
    {FindingId::ProviderMismatch, "provider-mismatch", "", "", Severity::Error, Actor::Image,
     Concern::Libraries,
     "{provider} is for another libibverbs: it has the private interface {has}, {library} wants "
     "{wants}.",
     "Install libibverbs and its providers from one source, in one version."},
    {FindingId::VendorLibraries, "vendor-libraries", "dpkg", "", Severity::Warning, Actor::Image,
     Concern::Libraries,
     "A vendor's OFED shadows rdma-core, and has no provider for vmw_pvrdma: {traces}.",
     "Purge its packages and install the distribution's, as these lines of a Dockerfile do. The "
     "purge takes along the packages that depend on them, such as the distribution's MPI: `apt-get "
     "-s purge` lists them.",
     "", kDebianLibraries},
    {FindingId::VendorLibraries, "vendor-libraries", "rpm", "", Severity::Warning, Actor::Image,
     Concern::Libraries,
     "Files of a vendor's OFED shadow rdma-core, and there is no provider for vmw_pvrdma among "
     "them: {traces}.",
     "Remove its packages, which the first line lists because an rpm database is not read here, "
     "and install the distribution's, as the line of a Dockerfile does. dnf takes along the "
     "packages that depend on them.",
     "", kRpmLibraries},
    {FindingId::MemlockLow, "memlock-low", "shell", "", Severity::Warning, Actor::Guest,
     Concern::Memlock,
     "This shell may lock only {limit} of memory: applications fail to register buffers.",
     "For logins write it into /etc/security/limits.d, and log in anew.", "",
     "printf '* - memlock unlimited\\n' >/etc/security/limits.d/90-rdma.conf"},
    {FindingId::MemlockLow, "memlock-low", "inherited", "", Severity::Warning, Actor::Guest,
     Concern::Memlock,
     "This container may lock only {limit} of memory, like the shell that has started it: "
     "applications fail to register buffers.",
     "For logins write it into the host's /etc/security/limits.d, log in anew, and start the "
     "container again.",
     "", "printf '* - memlock unlimited\\n' >/etc/security/limits.d/90-rdma.conf    # on the host"},
    {FindingId::MemlockLow, "memlock-low", "job", "", Severity::Warning, Actor::Guest,
     Concern::Memlock,
     "This Slurm job may lock only {limit} of memory: applications fail to register buffers.",
     "Give slurmd.service a drop-in with LimitMEMLOCK=infinity, and restart it when no job runs. "
     "slurm.conf needs the line below, as else the limit of the shell that submits the job counts.",
     "", "PropagateResourceLimitsExcept=MEMLOCK"},
    {FindingId::MemlockLow, "memlock-low", "container", "", Severity::Warning, Actor::Guest,
     Concern::Memlock,
     "This container may lock only {limit} of memory: applications fail to register buffers.",
     "Raise the limit; where that cannot be, give the container the capability IPC_LOCK. In a "
     "rootless container that capability does not count, and the limit cannot be above that of the "
     "user who starts it: raise that in the host's /etc/security/limits.d.",
     "",
     "docker run --ulimit memlock=-1 IMAGE\n"
     "securityContext: {capabilities: {add: [IPC_LOCK]}}    # in a pod's spec"},
    {FindingId::MemlockLow, "memlock-low", "unit", "", Severity::Warning, Actor::Guest,
     Concern::Memlock, "{unit} may lock only {limit} of memory: its jobs fail to register buffers.",
     "Give it a drop-in, and restart it when no job runs.", "",
     "mkdir -p /etc/systemd/system/{unit}.d\n"
     "printf '[Service]\\nLimitMEMLOCK=infinity\\n' >/etc/systemd/system/{unit}.d/memlock.conf\n"
     "systemctl daemon-reload"},
    {FindingId::MemlockLow, "memlock-low", "login", "", Severity::Info, Actor::Guest,
     Concern::Memlock, "Logins may lock only {limit} of memory, by {place}.",
     "If users start RDMA programs from a shell, raise it.", "",
     "printf '* - memlock unlimited\\n' >/etc/security/limits.d/90-rdma.conf"},
    {FindingId::NoSuchUnit, "no-such-unit", "", "", Severity::Warning, Actor::Guest,
     Concern::Memlock, "There is no unit {unit}, which was asked for.",
     "See `systemctl list-unit-files` for its name."},
    {FindingId::ModuleUnresolved, "module-unresolved", "missing", "", Severity::Error, Actor::Guest,
     Concern::Modules | Concern::Blocks,
     "A module that vmw_pvrdma needs was not in the kernel when it was loaded: {line}",
     "See `module-blocked`, if it is among the findings: a line of modprobe.d may replace that "
     "module by a command that loads nothing. Else run depmod, then `systemctl reload "
     "pvrdma-agent`: the agent loads the module."},
    {FindingId::ModuleUnresolved, "module-unresolved", "other-version", "", Severity::Error,
     Actor::Image, Concern::Modules | Concern::Blocks,
     "vmw_pvrdma was built for other RDMA modules than those in the kernel: {line}",
     "A vendor's OFED replaces the kernel's ib_core by one that vmw_pvrdma does not fit: uninstall "
     "it, run depmod and update the initramfs, then reboot."},
    {FindingId::ProbeFailed, "probe-failed", "order", "", Severity::Warning, Actor::Agent,
     Concern::Adapters | Concern::Modules,
     "vmw_pvrdma came to {function} before vmxnet3 had its interface, and gave up: {line}",
     "It is not the host's fault. The agent binds the function once the interface is there; by "
     "hand: echo {function} >/sys/bus/pci/drivers/vmw_pvrdma/bind"},
    {FindingId::ProbeFailed, "probe-failed", "no-roce", "", Severity::Error, Actor::Host,
     Concern::Adapters | Concern::Modules,
     "The host offers {function} no RoCE, so vmw_pvrdma gave up: {line}",
     "No load order and no reload helps. In vSphere see that the VM's hardware version and the "
     "adapter's Device Protocol fit the host, and that the host has an RDMA-capable uplink and "
     "PVRDMA's vmknic; power the VM off and on afterwards."},
    {FindingId::ProbeFailed, "probe-failed", "other", "", Severity::Warning, Actor::Host,
     Concern::Adapters | Concern::Modules, "vmw_pvrdma gave up {function}: {line}",
     "See the lines before it in `journalctl -k`; the device did not do what the driver asked."},
    {FindingId::FunctionClaimed, "function-claimed", "later", "", Severity::Warning, Actor::Guest,
     Concern::Adapters | Concern::Blocks,
     "{driver} is to take functions of PVRDMA adapters ({ids}) by {how}, once it is loaded.",
     "Take these IDs off its list, and refresh the initramfs; no load order helps against it."},
    {FindingId::FunctionClaimed, "function-claimed", "next-boot", "", Severity::Error, Actor::Guest,
     Concern::Adapters | Concern::Blocks,
     "{driver} is to take functions of PVRDMA adapters ({ids}) by {how}, once it is loaded.",
     "Take these IDs off its list, and refresh the initramfs; no load order helps against it."},
    {FindingId::DriverUnsigned, "driver-unsigned", "running", "", Severity::Warning, Actor::Image,
     Concern::Modules | Concern::Blocks,
     "Secure Boot is on, and this kernel's vmw_pvrdma is not signed: it is refused.",
     "Use a kernel whose distribution signs the module, or sign it with a key of your own and "
     "enroll that (mokutil --import)."},
    {FindingId::DriverUnsigned, "driver-unsigned", "next-boot", "", Severity::Error, Actor::Image,
     Concern::Modules | Concern::Blocks,
     "Secure Boot is on, and vmw_pvrdma of kernel {kernel} is not signed: it would be refused.",
     "Use a kernel whose distribution signs the module, or sign it with a key of your own and "
     "enroll that (mokutil --import)."},
    {FindingId::ReloadElsewhere, "reload-elsewhere", "", "", Severity::Warning, Actor::Guest,
     Concern::Boot, "{file}, {when}, loads or unloads vmw_pvrdma beside the agent: {lines}.",
     "Take that out by hand: the agent reloads the driver where it must, and not while a program "
     "uses it. `pvrdma-agentctl migrate` shows each line, and why it stays."},
    {FindingId::LinkProfile, "link-profile", "no-such-mac", "", Severity::Warning, Actor::Guest,
     Concern::Links,
     "{file} has settings for the MAC address {mac}, which no interface here has: they apply to "
     "nothing.",
     "A clone has other MAC addresses than its template. Write this machine's (`ip link`) or the "
     "interface's name into the file. Where the interface is gone for good, take these settings "
     "out, but the whole file only if it has no settings for other interfaces. `pvrdma-agentctl "
     "seal` lists such places before a template is cloned."},
    {FindingId::LinkProfile, "link-profile", "refused", "", Severity::Warning, Actor::Guest,
     Concern::Links,
     "NetworkManager ignores {file}, as another user than root owns it, or may read or write it.",
     "Run `chown root` and `chmod 600` on the file, then `nmcli connection reload`."},
    {FindingId::LinkProfile, "link-profile", "several", "", Severity::Info, Actor::Guest,
     Concern::Links,
     "NetworkManager has several profiles for {netdev}: it takes {file}, as {why}, and not "
     "{others}.",
     "Put all settings into one of them, and delete the others by nmcli."},
    {FindingId::LinkProfile, "link-profile", "undecided", "", Severity::Warning, Actor::Guest,
     Concern::Links,
     "NetworkManager has several profiles for {netdev}, {files}: it takes the one that was used "
     "last, which cannot be told from files here.",
     "Put all settings into one of them and delete the others by nmcli, or give one a larger "
     "connection.autoconnect-priority."},
    {FindingId::GuestUnlisted, "guest-unlisted", "", "", Severity::Info, Actor::Image,
     Concern::Guest, "{os} is not among the guests that VMware names for PVRDMA with {roce}.",
     "It may work all the same; VMware's support may ask for one of its list: {listed}."},
    {FindingId::MixedPassthrough, "mixed-passthrough", "", "", Severity::Info, Actor::Guest,
     Concern::Adapters, "A passed-through RDMA adapter is here as well: {functions}.",
     "Tell applications which to use: `pvrdma-agentctl env` has the variables."},
    {FindingId::ClockOff, "clock-off", "", "", Severity::Warning, Actor::Guest, Concern::Clock,
     "This guest's clock and that of its hardware are {offset} apart.",
     "Let chrony or systemd-timesyncd set it (timedatectl); logs and measurements of several hosts "
     "cannot be compared before."},
    {FindingId::DriverCrashed, "driver-crashed", "", "", Severity::Error, Actor::Guest,
     Concern::Guest, "vmw_pvrdma has crashed in this boot and may hold its locks for ever: {line}",
     "Only a reboot helps. Do not unload or unbind anything before: that would hang, and SIGKILL "
     "would not end it."},
    {FindingId::KernelCrashed, "kernel-crashed", "", "", Severity::Info, Actor::Guest,
     Concern::Guest, "The kernel has crashed somewhere in this boot{where}.",
     "See `journalctl -k -b`, as root: if vmw_pvrdma is in the call trace, only a reboot helps."},
    {FindingId::ContainerNetwork, "container-network", "", "", Severity::Warning, Actor::Guest,
     Concern::Links | Concern::Gids,
     "The interface of {device} is not in this container's network: it can use none of the GIDs.",
     "Share the host's network, or move the interface into the container's.", "",
     "docker run --network host IMAGE\n"
     "hostNetwork: true    # in a pod's spec"},
    // Only `doctor --next-boot` has these.
    {FindingId::NoKernel, "no-kernel", "", "", Severity::Error, Actor::Guest, Concern::None,
     "No kernel is found here: no folder of /lib/modules has an image in /boot.",
     "Mount /boot if it is not; what a container boots with is a matter of its host."},
    {FindingId::KernelWithoutDriver, "kernel-without-driver", "other", "", Severity::Warning,
     Actor::Image, Concern::None,
     "The kernel {kernel}, which is installed but not next, does not ship vmw_pvrdma.",
     "Do not boot it, or remove it, or give it the driver. Ubuntu up to 24.04: "
     "linux-modules-extra. Enterprise Linux before 10: kernel-modules-{kernel}. Debian, Enterprise "
     "Linux 10: vmw-pvrdma-dkms builds the driver once the kernel's headers are there "
     "(linux-headers-{kernel}, kernel-devel-{kernel})."},
    {FindingId::KernelWithoutDriver, "kernel-without-driver", "may-be-next", "", Severity::Warning,
     Actor::Image, Concern::None,
     "The kernel {kernel} does not ship vmw_pvrdma, and it is not known whether the next boot "
     "takes it.",
     "Choose the kernel to boot (grub-set-default, grubby --set-default), or give this one the "
     "driver. Ubuntu up to 24.04: linux-modules-extra. Enterprise Linux before 10: "
     "kernel-modules-{kernel}. Debian, Enterprise Linux 10: vmw-pvrdma-dkms builds the driver once "
     "the kernel's headers are there (linux-headers-{kernel}, kernel-devel-{kernel})."},
    {FindingId::OrderNotSet, "order-not-set", "modprobe", "", Severity::Warning, Actor::Guest,
     Concern::None,
     "modprobe.d does not have {modules} loaded before vmw_pvrdma: at the next boot udev may load "
     "the driver too early.",
     "pvrdma-agent.conf of this package does; see that no file of its name in /etc/modprobe.d "
     "hides it, and that no file that sorts before it has a line `softdep vmw_pvrdma`: only the "
     "first one counts. Where the agent runs it mends a wrong order, which costs seconds at each "
     "boot."},
    {FindingId::OrderNotSet, "order-not-set", "initramfs", "", Severity::Warning, Actor::Guest,
     Concern::None, "{image} holds vmw_pvrdma, but not {modules}, which must come before it.",
     "Refresh it: update-initramfs -u -k {kernel} on Debian and Ubuntu; where that command is "
     "missing, as on Enterprise Linux, /usr/libexec/pvrdma-agent/refresh-initramfs --force."},
    {FindingId::AgentNotEnabled, "agent-not-enabled", "missing", "", Severity::Warning,
     Actor::Image, Concern::None,
     "pvrdma-agent is not installed, so nothing brings up the adapters at boot.",
     "Install the package pvrdma-agent."},
    {FindingId::AgentNotEnabled, "agent-not-enabled", "masked", "", Severity::Warning, Actor::Guest,
     Concern::None, "pvrdma-agent.service is masked, so nothing brings up the adapters at boot.",
     "Unmask and enable it.", "",
     "systemctl unmask pvrdma-agent\nsystemctl enable --now pvrdma-agent"},
    {FindingId::AgentNotEnabled, "agent-not-enabled", "disabled", "", Severity::Warning,
     Actor::Guest, Concern::None,
     "pvrdma-agent.service is not enabled, so nothing brings up the adapters at boot.",
     "Enable it.", "", "systemctl enable --now pvrdma-agent"},
    {FindingId::AgentNotEnabled, "agent-not-enabled", "executor", "", Severity::Warning,
     Actor::Guest, Concern::None,
     "pvrdma-agent-executor.socket is masked: the agent can watch, but mend nothing.", "Unmask it.",
     "",
     "systemctl unmask pvrdma-agent-executor.socket\n"
     "systemctl start pvrdma-agent-executor.socket"},
    {FindingId::LinkUnowned, "link-unowned", "unmanaged", "", Severity::Warning, Actor::Guest,
     Concern::None,
     "Nothing brings up the link of {link} at the next boot, so its port stays DOWN.",
     "Enable pvrdma-agent, or have a network manager configure the link."},
    {FindingId::LinkUnowned, "link-unowned", "unaddressed", "", Severity::Info, Actor::Guest,
     Concern::None,
     "Nothing gives {link} an address at the next boot, so there is no GID for IPv4.",
     "Give the adapter addresses in pvrdma-agent.toml, or have a network manager configure the "
     "link."},
};

}  // namespace

std::span<const CatalogueEntry> doctor_findings() { return kDoctorEntries; }

}  // namespace pvrdma
