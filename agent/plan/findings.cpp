#include "agent/plan/findings.hpp"

#include <algorithm>
#include <utility>

#include "agent/plan/advice.hpp"

namespace pvrdma::findings {

namespace {

constexpr const char* kHostSide =
    "On the ESXi host check that Net.PVRDMAVmknic is set (esxcli system settings advanced set -o "
    "/Net/PVRDMAVmknic -s vmk0), that the pvrdma firewall rule set is enabled (esxcli network "
    "firewall ruleset set -e true -r pvrdma), and that the distributed switch has an uplink.";

Finding about(const Adapter& adapter, std::string id, Severity severity, std::string summary,
              std::string remedy) {
  return {std::move(id), severity, adapter.function, std::move(summary), std::move(remedy), {}};
}

Finding overall(std::string id, Severity severity, std::string summary, std::string remedy) {
  return {std::move(id), severity, std::nullopt, std::move(summary), std::move(remedy), {}};
}

std::string device_name(const Adapter& adapter) {
  const RdmaDevice* rdma = adapter.rdma.get();
  return rdma != nullptr ? rdma->name : adapter.function;
}

std::string seconds(Milliseconds time) { return std::to_string(time.count() / 1000) + " s"; }

std::string kernel_of(const Snapshot& snapshot) { return snapshot.kernel.value_or("running"); }

std::string listing(const std::vector<Holder>& holders) {
  constexpr std::size_t kMost = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(holders.size(), kMost); ++i) {
    const Holder& holder = holders[i];
    text += (i == 0 ? "" : ", ") + (holder.command.empty() ? "a process" : holder.command) +
            " (PID " + std::to_string(holder.pid) + ")";
  }
  if (holders.size() > kMost) text += " and " + std::to_string(holders.size() - kMost) + " more";
  return text;
}

}  // namespace

Finding no_adapter(unsigned required) {
  return overall(
      "no-adapter", Severity::Error,
      "No PVRDMA function is in this VM, but " + std::to_string(required) +
          " adapter(s) are required by readiness.adapters.",
      "In vSphere give the VM a network adapter of type PVRDMA, connected at power on; it "
      "needs hardware version 13 or later.");
}

Finding adapter_removed(const RemovedAdapter& removed, Milliseconds patience) {
  std::string known_by = removed.netdev;
  if (!removed.mac.empty()) known_by += (known_by.empty() ? "" : ", ") + removed.mac;
  return overall(
      "adapter-removed", Severity::Warning,
      "Adapter " + removed.function + (known_by.empty() ? "" : " (" + known_by + ")") +
          " was removed from this VM at " + wall_time(removed.removed) + ".",
      "If that was meant, `pvrdma-agentctl acknowledge` ends this; so does time, after " +
          seconds(patience) +
          " (readiness.forget_removed). Otherwise connect it again in vSphere.");
}

Finding no_vmxnet3_pair(const Adapter& adapter) {
  return about(
      adapter, "no-vmxnet3-pair", Severity::Error,
      "Function " + adapter.net_function + ", the vmxnet3 side of the adapter, has no driver.",
      "See dmesg for vmxnet3; without its netdev vmw_pvrdma cannot probe.");
}

Finding no_carrier(const Adapter& adapter, const Netdev& netdev) {
  return about(adapter, "no-carrier", Severity::Warning,
               "The link of " + netdev.name + " is up but has no carrier.",
               "In vSphere check that the network adapter is connected and its port group has an "
               "uplink.");
}

Finding port_down(const Adapter& adapter) {
  const RdmaDevice* rdma = adapter.rdma.get();
  return about(adapter, "port-down", Severity::Error,
               "The port of " + device_name(adapter) + " is " +
                   (rdma != nullptr ? rdma->port.state.value_or("unreadable") : "missing") +
                   " though its link and carrier are up: the host holds it down.",
               kHostSide);
}

Finding netdev_lost(const Adapter& adapter) {
  return about(
      adapter, "netdev-lost", Severity::Warning,
      "The driver has lost the netdev of " + device_name(adapter) +
          " (another adapter was unbound or removed): link events no longer reach it.",
      "Its traffic goes on. The driver is reloaded for all adapters as soon as nobody holds "
      "one.");
}

Finding verbs_unusable(const Adapter& adapter, const RdmaDevice& rdma) {
  return about(adapter, "verbs-unusable", Severity::Warning,
               "The kernel says the port of " + rdma.name +
                   " is ACTIVE, but ibv_query_port does not: " +
                   rdma.port.verbs_state.error()->message() + ".",
               "Install rdma-core's provider for vmw_pvrdma (Debian, Ubuntu: ibverbs-providers; "
               "Enterprise Linux: libibverbs); a vendor's OFED libraries bring none.");
}

Finding gid_missing(const Adapter& adapter, const std::string& address, GidType type) {
  const std::string kind = type == GidType::Best     ? ""
                           : type == GidType::RoceV2 ? " of type RoCE v2"
                                                     : " of type RoCE v1";
  return about(adapter, "gid-missing", Severity::Warning,
               device_name(adapter) + " has no GID" + kind + " for " + address +
                   ": applications cannot use this address.",
               kind.empty() ? "The driver makes one for each address of its interface; if none "
                              "comes, `pvrdma-agentctl reload` pairs both again."
                            : "`pvrdma-agentctl health` lists the GIDs there are; gid_type = "
                              "\"best\" takes what the device offers.");
}

Finding unreadable(const Error& error, MaybeAdapter adapter) {
  return {"unreadable",
          Severity::Warning,
          std::move(adapter),
          "A part of the state is not known: " + error.message() + ".",
          "Nothing is unloaded or unbound while this is so.",
          {}};
}

Finding driver_not_shipped(const Snapshot& snapshot) {
  return overall("driver-not-shipped", Severity::Error,
                 "The kernel " + kernel_of(snapshot) + " does not ship vmw_pvrdma.",
                 "Boot a kernel that has it (Ubuntu: linux-modules-extra; Debian builds none), or "
                 "build the module for this one.");
}

Finding driver_built_in(const std::string& why) {
  return overall("driver-built-in", Severity::Warning,
                 "vmw_pvrdma ought to be reloaded (" + why +
                     "), but it is built into this kernel and has several adapters.",
                 "Only a reboot pairs all of them again.");
}

Finding initramfs_old(const Initramfs& image, const Snapshot& snapshot) {
  const std::string kernel = kernel_of(snapshot);
  return overall("initramfs-old", Severity::Info,
                 image.path + " was built before " + image.older_than +
                     " was changed: at the next boot it may load vmw_pvrdma out of order.",
                 "Refresh it: update-initramfs -u -k " + kernel +
                     " where initramfs-tools makes it, dracut --force " + image.path + " " +
                     kernel + " where dracut does.");
}

Finding module_not_shipped(const std::string& module, const Snapshot& snapshot, bool required) {
  return overall("module-not-shipped", required ? Severity::Error : Severity::Info,
                 "The kernel " + kernel_of(snapshot) + " does not ship " + module + "." +
                     (required ? " It is required." : " The adapters work without it."),
                 required ? "Install the package with this kernel's extra modules (Ubuntu: "
                            "linux-modules-extra; Enterprise Linux: kernel-modules-extra), or take "
                            "it off modules.required."
                          : "To be rid of this line, take it off modules.before.");
}

Finding attempt_failed(const Attempt& attempt, MaybeAdapter adapter) {
  const std::string call = attempt.verb + " " + attempt.target;
  if (attempt.outcome == Outcome::Refused)
    return {
        "module-refused",
        Severity::Warning,
        std::move(adapter),
        "The kernel refuses " + attempt.target + ": " + attempt.detail + ".",
        "With Secure Boot a module must be signed by a key the kernel trusts; see also modprobe.d "
        "for block lists.",
        {}};
  return {"action-failed",
          Severity::Warning,
          std::move(adapter),
          call + " did not work: " + attempt.detail + ".",
          "It is tried again, less and less often.",
          {}};
}

Finding giving_up(const std::string& call, unsigned tries, Severity severity,
                  MaybeAdapter adapter) {
  return {"giving-up",
          severity,
          std::move(adapter),
          call + " was tried " + std::to_string(tries) + " times; it is not tried again by itself.",
          "It is taken up again on any change of the adapter's state, or by `pvrdma-agentctl "
          "reload`.",
          {}};
}

Finding driver_in_use(std::vector<Holder> holders, const std::string& why) {
  const std::string who =
      holders.empty() ? "somebody the kernel does not name (vmw_pvrdma's refcount is above 0)"
                      : listing(holders);
  Finding finding =
      overall("driver-in-use", Severity::Warning,
              "vmw_pvrdma ought to be reloaded (" + why + "), but is held by " + who + ".",
              "Nothing is unloaded while a process holds an adapter. The reload follows by "
              "itself once they have ended.");
  finding.holders = std::move(holders);
  return finding;
}

Finding holders_unknown(const Snapshot& snapshot, const std::string& why) {
  const Error* error = snapshot.holders.error();
  return overall("holders-unknown", Severity::Warning,
                 "vmw_pvrdma ought to be reloaded (" + why +
                     "), but whether somebody holds an adapter is not known" +
                     (error != nullptr ? ": " + error->message() : "") + ".",
                 "Nothing is unloaded while this is so. When no RDMA program runs, `modprobe -r "
                 "vmw_pvrdma` by hand is safe: the kernel refuses it while in use.");
}

Finding reload_forbidden(const std::string& why) {
  return overall("reload-forbidden", Severity::Warning,
                 "vmw_pvrdma ought to be reloaded (" + why + "), but modules.reload is \"never\".",
                 "Set modules.reload to \"auto\", or reload it by hand when no job runs.");
}

Finding boot_script(const BootScript& script) {
  return overall("boot-script", Severity::Info,
                 script.path + " loads or unloads vmw_pvrdma at every boot, beside this agent.",
                 "`pvrdma-agentctl migrate` shows what it does and what of it the agent does; with "
                 "--apply it comments that out.");
}

Finding reload_waits(const BootScript& script, const std::string& why) {
  return overall("reload-waits", Severity::Warning,
                 "vmw_pvrdma ought to be reloaded (" + why + "), but " + script.path +
                     " does that itself and has not ended in this boot.",
                 "The reload follows by itself, if it is still needed then. `pvrdma-agentctl "
                 "migrate` moves the script's part to this agent.");
}

Finding executor_stuck(const BusyCall& call) {
  return overall(
      "executor-stuck", Severity::Error,
      call.call + " has not come back from the kernel since " + wall_time(call.since) + ".",
      "See `journalctl -u pvrdma-agent-executor` and dmesg. A process stuck in the kernel "
      "cannot be killed; nothing else is tried until it returns.");
}

Finding slow(const Adapter& adapter, Milliseconds limit) {
  return about(adapter, "slow", Severity::Warning,
               "The adapter has not become ready within " + seconds(limit) + " of its last change.",
               "`pvrdma-agentctl plan` says what is waited for.");
}

Finding config_bad(const std::string& error) {
  return overall("config-bad", Severity::Warning,
                 "The configuration on disk is not good, the last good one is in force: " + error,
                 "Mend the file, try it with `pvrdma-agent --check-config`, then `systemctl reload "
                 "pvrdma-agent`.");
}

Finding config_left_out(const std::string& error) {
  return overall(
      "config-bad", Severity::Warning,
      "The configuration from vSphere does not count, that of this machine does: " + error,
      "Mend it in the VM's settings, then `systemctl start pvrdma-agent-guestinfo` and "
      "`systemctl reload pvrdma-agent`; guestinfo.enabled = false does without.");
}

Finding customization_awaited(const std::string& what, Milliseconds patience) {
  return overall("customization-awaited", Severity::Info,
                 "Addresses and MTU wait for " + what + ", which has not ended.",
                 "They follow once it has, with the configuration as it is then, and after " +
                     seconds(patience) + " in any case.");
}

Finding customization_late(const std::string& what, Milliseconds patience) {
  return overall("customization-late", Severity::Warning,
                 "Addresses and MTU did not wait any longer for " + what +
                     ", which has not ended within " + seconds(patience) + ".",
                 "See `cloud-init status --long`, or /var/log/vmware-imc/toolsDeployPkg.log. The "
                 "configuration is read again when it ends.");
}

Finding config_matches_nothing(const AdapterMatch& match) {
  const std::string what = match.mac      ? "mac = \"" + *match.mac + "\""
                           : match.netdev ? "netdev = \"" + *match.netdev + "\""
                                          : "pci = \"" + match.pci.value_or("") + "\"";
  return overall("config-matches-nothing", Severity::Warning,
                 "An [[adapter]] of the configuration, " + what + ", is no adapter of this VM.",
                 "Compare with `pvrdma-agentctl status`; a clone has other MAC addresses.");
}

Finding link_down_not_ours(const Adapter& adapter, const LinkOwner* owner) {
  const std::string name = adapter.netdev.get()->name;
  return about(adapter, "link-down", Severity::Warning,
               "The link of " + name + " is down, and " +
                   (owner != nullptr ? std::string{to_string(owner->manager)} + " has it."
                                     : "this agent is not to bring it up."),
               "Bring it up (ip link set " + name +
                   " up), or let the agent manage it (manage = \"agent\").");
}

Finding mtu_differs(const Adapter& adapter, const LinkOwner* owner, unsigned mtu) {
  const Netdev& netdev = *adapter.netdev.get();
  return about(adapter, "mtu-differs", Severity::Warning,
               "The MTU of " + netdev.name + " is " + std::to_string(netdev.mtu) +
                   ", configured is " + std::to_string(mtu) + ", and the link is not ours.",
               owner != nullptr
                   ? advice::set_mtu(*owner, netdev, mtu)
                   : "Set it by ip link set " + netdev.name + " mtu " + std::to_string(mtu) + ".");
}

Finding address_missing(const Adapter& adapter, const LinkOwner* owner,
                        const std::string& address) {
  const Netdev& netdev = *adapter.netdev.get();
  return about(adapter, "address-missing", Severity::Warning,
               "The configured address " + address + " is not on " + netdev.name +
                   ", and the link is not ours.",
               owner != nullptr
                   ? advice::set_address(*owner, netdev, address)
                   : "Set it by ip address add " + address + " dev " + netdev.name + ".");
}

Finding mtu_impossible(const Adapter& adapter, const Netdev& netdev, unsigned mtu) {
  return about(adapter, "mtu-impossible", Severity::Warning,
               "The link of " + netdev.name + " takes no MTU of " + std::to_string(mtu) +
                   ": its limits are " + std::to_string(netdev.mtu_min.value_or(0)) + " and " +
                   std::to_string(netdev.mtu_max.value_or(0)) + ".",
               "Configure an mtu within them.");
}

Finding mtu_waits(const Adapter& adapter, const Netdev& netdev, unsigned mtu) {
  return about(adapter, "mtu-waits", Severity::Warning,
               "The MTU of " + netdev.name + " is " + std::to_string(netdev.mtu) +
                   ", configured is " + std::to_string(mtu) + ", but a process holds the adapter.",
               "vmxnet3 resets its device for a new MTU; it is set by itself once nobody holds the "
               "adapter.");
}

Finding address_duplicate(const Adapter& adapter, const std::string& address) {
  return about(adapter, "address-duplicate", Severity::Error,
               "Somebody else in the network of " + adapter.netdev.get()->name + " has " + address +
                   ": the kernel does not use it.",
               "Give one of the two another address; a clone of this VM may have the same.");
}

Finding same_subnet(const Adapter& adapter, const Adapter& other, const std::string& address) {
  return about(adapter, "same-subnet", Severity::Warning,
               adapter.netdev.get()->name + " (" + address + ") is in the subnet of " +
                   other.netdev.get()->name + ": Linux answers for both on either.",
               "Give each adapter a network of its own.");
}

Finding default_route(const Adapter& adapter) {
  const std::string name = adapter.netdev.get()->name;
  return about(adapter, "default-route", Severity::Info,
               "A default route leaves by " + name + ": other traffic shares the adapter.",
               "Where that is not meant, leave the gateway out of its configuration (DHCP: ignore "
               "the routes it offers).");
}

Finding first_nic(const Adapter& adapter) {
  return about(adapter, "first-nic", Severity::Info,
               "The adapter is the first NIC of this VM, which vSphere means to be a regular one.",
               "In vSphere give the VM a regular (VMXNET3) network adapter before it; what expects "
               "the first NIC to be the VM's management network would use the adapter.");
}

Finding address_outside(const Adapter& adapter, const std::string& address) {
  return about(adapter, "address-outside", Severity::Info,
               adapter.netdev.get()->name + " has " + address +
                   ", which is in none of the subnets configured for it.",
               "Remove it, or add it to the adapter's addresses.");
}

Finding two_owners(const Adapter& adapter, const LinkOwner& owner) {
  const Netdev& netdev = *adapter.netdev.get();
  return about(adapter, "two-owners", Severity::Warning,
               std::string{to_string(owner.manager)} + " configures " + netdev.name +
                   " as well, though manage = \"agent\" gives the link to this agent.",
               advice::let_go(owner, netdev));
}

}  // namespace pvrdma::findings
