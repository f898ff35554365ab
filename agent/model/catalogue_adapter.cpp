// SPDX-License-Identifier: GPL-2.0-or-later
// Findings about one adapter.
#include "agent/model/catalogue.hpp"

namespace pvrdma {

namespace {

constexpr CatalogueEntry kAdapterEntries[] = {
    {FindingId::NoVmxnet3Pair, "no-vmxnet3-pair", "", "7bffc49236bf56dc8250da92384dd0d3",
     Severity::Error, Actor::Guest, Concern::Adapters,
     "Function {function}, the vmxnet3 side of the adapter, has no driver.",
     "See dmesg for vmxnet3; without its netdev vmw_pvrdma cannot probe."},
    {FindingId::OtherDriver, "other-driver", "", "d12b045d6cd346ee9a6117656f3a6b12",
     Severity::Error, Actor::Guest, Concern::Adapters,
     "Function {function} is bound to {driver}, where {wanted} must have it.",
     "No load order and no reload helps: {driver} was given the function by its ID or by "
     "driver_override. Take that back (`pvrdma-agentctl doctor` names a line of modprobe.d that "
     "does it), also from the loaded driver (echo {id} >/sys/bus/pci/drivers/{driver}/remove_id; "
     "\"No such device\" means that it has no such ID), then: echo {function} "
     ">/sys/bus/pci/drivers/{driver}/unbind; echo {function} >/sys/bus/pci/drivers_probe"},
    {FindingId::NoCarrier, "no-carrier", "", "bc13908195f158488d0af94171d666a6", Severity::Warning,
     Actor::Host, Concern::Links | Concern::Containers,
     "The link of {netdev} is up but has no carrier.",
     "In vSphere check that the network adapter is connected and its port group has an uplink."},
    {FindingId::PortDown, "port-down", "", "8aeb78a0878058149286994037bd41be", Severity::Error,
     Actor::Host, Concern::Ports | Concern::Containers,
     "The port of {device} is {state} though its link and carrier are up: the host holds it down.",
     "On the ESXi host check that Net.PVRDMAVmknic is set (esxcli system settings advanced set -o "
     "/Net/PVRDMAVmknic -s vmk0), that the pvrdma firewall rule set is enabled (esxcli network "
     "firewall ruleset set -e true -r pvrdma), and that the distributed switch has an uplink."},
    {FindingId::PortDown, "port-down", "untried", "8aeb78a0878058149286994037bd41be",
     Severity::Error, Actor::Guest, Concern::Ports | Concern::Containers,
     "The port of {device} is {state} though its link and carrier are up, and the agent has not "
     "reloaded the driver in this boot, as the configuration forbids that.",
     "Allow a reload first (modules.reload, or a valid configuration), or run `modprobe -r "
     "vmw_pvrdma` when no job runs: the agent loads it again. If the port stays down after that, "
     "the host holds the port down: `pvrdma-agentctl doctor --host-admin`."},
    {FindingId::NetdevLost, "netdev-lost", "", "4765e51015ce54edae7dd0aee25b3700",
     Severity::Warning, Actor::Agent, Concern::Ports,
     "The driver has lost the netdev of {device} (another adapter was unbound or removed): link "
     "events no longer reach it.",
     "Its traffic goes on. The driver is reloaded for all adapters as soon as no program holds "
     "one."},
    {FindingId::NetdevElsewhere, "netdev-elsewhere", "", "2596ce77708b4c2c89e5659e74f5a9d0",
     Severity::Warning, Actor::Guest, Concern::Readiness | Concern::Links,
     "The interface of {adapter} is in another network namespace, for example a container's: RDMA "
     "uses the addresses that the interface has there.",
     "The agent does nothing for it meanwhile. It comes back, and is configured again, when that "
     "namespace ends. When no job there uses it, `ip -n NAMESPACE link set INTERFACE netns 1` "
     "brings it back at once."},
    {FindingId::NetdevElsewhere, "netdev-elsewhere", "device", "2596ce77708b4c2c89e5659e74f5a9d0",
     Severity::Warning, Actor::Guest, Concern::Readiness | Concern::Links,
     "The RDMA device of {adapter} is in another network namespace, for example a "
     "container's.",
     "The agent does nothing for it meanwhile, and does not reload the driver for any adapter. It "
     "comes back when that namespace ends."},
    {FindingId::VerbsUnusable, "verbs-unusable", "", "f19b0124e531539f8edb53293fcda6df",
     Severity::Warning, Actor::Image, Concern::Libraries | Concern::Ports,
     "The kernel says the port of {device} is ACTIVE, but ibv_query_port does not: {error}.",
     "Install rdma-core's provider for vmw_pvrdma (Debian, Ubuntu: ibverbs-providers; Enterprise "
     "Linux: libibverbs); a vendor's OFED libraries bring none."},
    {FindingId::VerbsUnusable, "verbs-unusable", "late", "f19b0124e531539f8edb53293fcda6df",
     Severity::Warning, Actor::Host, Concern::Libraries | Concern::Ports,
     "The kernel says the port of {device} is ACTIVE, but ibv_query_port has no answer: {error}.",
     "Commands of many processes queue, or the host does not answer: the guest's log (dmesg) and "
     "the host's (/var/log/vmkernel.log, lines with pvrdma) say more."},
    {FindingId::GidMissing, "gid-missing", "any", "1075250bd99651748a48fbf20732d5c1",
     Severity::Warning, Actor::Guest, Concern::Gids | Concern::Containers,
     "{device} has no GID for {address}: applications cannot use this address.",
     "The driver makes one for each address of its interface, and takes it away with the same "
     "address of another prefix length. When no job uses the adapter, delete the address and set "
     "it again (the agent sets its own by itself); if no GID comes, `pvrdma-agentctl reload` pairs "
     "both again."},
    {FindingId::GidMissing, "gid-missing", "typed", "1075250bd99651748a48fbf20732d5c1",
     Severity::Warning, Actor::Guest, Concern::Gids | Concern::Containers,
     "{device} has no GID of type {type} for {address}: applications cannot use this address.",
     "`pvrdma-agentctl health` lists the GIDs there are; gid_type = \"best\" takes what the device "
     "offers."},
    {FindingId::GivingUp, "giving-up", "", "b395d447361d5787bc897ed8c7a3608d", Severity::Error,
     Actor::Guest, Concern::Modules,
     "{call} was tried {tries} times; it is not tried again by itself.",
     "The agent tries again when the adapter's state changes, or after `systemctl reload "
     "pvrdma-agent`."},
    {FindingId::GivingUp, "giving-up", "optional", "b395d447361d5787bc897ed8c7a3608d",
     Severity::Warning, Actor::Guest, Concern::Modules,
     "{call} was tried {tries} times; it is not tried again by itself.",
     "The agent tries again when the adapter's state changes, or after `systemctl reload "
     "pvrdma-agent`."},
    {FindingId::GivingUp, "giving-up", "slowly", "b395d447361d5787bc897ed8c7a3608d",
     Severity::Error, Actor::Guest, Concern::Modules,
     "{call} was tried {tries} times in vain; it is tried again every ten minutes.",
     "The finding beside this one names the obstacle. If that is a second host, give one of the "
     "two hosts another address. It is tried at once on any change of the adapter's state, or by "
     "`systemctl reload pvrdma-agent`."},
    {FindingId::ActionFailed, "action-failed", "", "4310feb2281b586ba7a1ccab50fea846",
     Severity::Warning, Actor::Agent, Concern::Modules, "{call} did not work: {error}.",
     "It is tried again, less and less often."},
    {FindingId::ActionRefused, "action-refused", "", "bf5fec07d9bed06a40df35b6265fc145",
     Severity::Warning, Actor::Guest, Concern::Modules | Concern::Links,
     "The executor refuses {call}: {error}.",
     "It is asked again, after some seconds at first, later every ten minutes. If the "
     "configuration is the reason, the files may have changed since the agent read them: try them "
     "with `pvrdma-agent --check-config`, then `systemctl reload pvrdma-agent`."},
    {FindingId::Slow, "slow", "", "ac33329981dd5f6aae8fd813bba6c1f4", Severity::Warning,
     Actor::Guest, Concern::Ports,
     "The adapter has not become ready within {limit} of its last change.",
     "`pvrdma-agentctl plan` says what is waited for."},
    {FindingId::Unreadable, "unreadable", "", "bdbdb18796a5510097bc766d78d9178d", Severity::Warning,
     Actor::Guest, Concern::Ports, "A part of the state is not known: {error}.",
     "Nothing is unloaded or unbound while this is so."},
    {FindingId::LinkDown, "link-down", "unmanaged", "0c5db809d1dd55e5b56bb41cd4b9affd",
     Severity::Warning, Actor::Guest, Concern::Links,
     "The link of {netdev} is down, and this agent is not to bring it up.",
     "Bring it up (ip link set {netdev} up), or let the agent manage it (manage = \"agent\")."},
    {FindingId::LinkDown, "link-down", "managed", "0c5db809d1dd55e5b56bb41cd4b9affd",
     Severity::Warning, Actor::Guest, Concern::Links,
     "The link of {netdev} is down, and {manager} manages it.",
     "Bring it up (ip link set {netdev} up), or let the agent manage it (manage = \"agent\")."},
    {FindingId::MtuDiffers, "mtu-differs", "unmanaged", "0afb4196ef2a5b44a49148678b196080",
     Severity::Warning, Actor::Guest, Concern::Links,
     "The MTU of {netdev} is {mtu}, configured is {configured}, and the link is not ours.",
     "When no job uses the adapter, set it by ip link set {netdev} mtu {configured}."},
    {FindingId::MtuDiffers, "mtu-differs", "managed", "0afb4196ef2a5b44a49148678b196080",
     Severity::Warning, Actor::Guest, Concern::Links,
     "The MTU of {netdev} is {mtu}, configured is {configured}, and the link is not ours.",
     "{advice}", "The finding has the line that the link's manager needs."},
    {FindingId::MtuImpossible, "mtu-impossible", "", "80711560479d53abb9267cc282406a58",
     Severity::Warning, Actor::Guest, Concern::Links,
     "The link of {netdev} takes no MTU of {configured}: its limits are {least} and {most}.",
     "Configure an mtu within them."},
    {FindingId::MtuWaits, "mtu-waits", "", "46d8edb775545fdbb28850e9daf76559", Severity::Warning,
     Actor::Agent, Concern::Links,
     "The MTU of {netdev} is {mtu}, configured is {configured}, but the adapter is held by {who}.",
     "vmxnet3 resets its device for a new MTU. The agent sets the MTU once the adapter is free."},
    {FindingId::AddressWaits, "address-waits", "removed", "58fcaba581e749e1869ebfd689e69883",
     Severity::Warning, Actor::Agent, Concern::Links | Concern::Holders,
     "{address} is no longer configured and stays on {netdev}: the adapter is held by {who}.",
     "With an address goes its GID, which a running job may use. The address is removed by itself "
     "once that has ended."},
    {FindingId::AddressWaits, "address-waits", "duplicate", "58fcaba581e749e1869ebfd689e69883",
     Severity::Warning, Actor::Agent, Concern::Links | Concern::Holders,
     "{address} is not set anew on {netdev} after its duplicate was found: the adapter is held by "
     "{who}.",
     "With an address goes its GID, which a running job may use. The address is tried again by "
     "itself once that has ended."},
    {FindingId::AddressMissing, "address-missing", "unmanaged", "2ae77089682c53bd96b183f4ef5bc243",
     Severity::Warning, Actor::Guest, Concern::Links,
     "The configured address {address} is not on {netdev}, and the link is not ours.",
     "Set it by ip address add {address} dev {netdev}."},
    {FindingId::AddressMissing, "address-missing", "managed", "2ae77089682c53bd96b183f4ef5bc243",
     Severity::Warning, Actor::Guest, Concern::Links,
     "The configured address {address} is not on {netdev}, and the link is not ours.", "{advice}",
     "The finding has the line that the link's manager needs."},
    {FindingId::AddressDuplicate, "address-duplicate", "", "7a652d45cea5511ba0e489c7be31b6d3",
     Severity::Error, Actor::Guest, Concern::Links | Concern::Containers,
     "Another host in the network of {netdev} has {address}: the kernel does not use it.",
     "Give one of the two another address; a clone of this VM may have the same."},
    {FindingId::AddressOutside, "address-outside", "", "61a025325a5d5e3a99a33a54eddf1227",
     Severity::Info, Actor::Guest, Concern::Links,
     "{netdev} has {address}, which is in none of the subnets configured for it.",
     "Add it to the adapter's addresses, or remove it when no job uses the adapter."},
    {FindingId::SameSubnet, "same-subnet", "", "5f872b2f345358249d282ecf007764d2",
     Severity::Warning, Actor::Guest, Concern::Links,
     "{netdev} ({address}) is in the subnet of {other}: Linux answers ARP "
     "requests for both addresses on either interface.",
     "Give each adapter a network of its own."},
    {FindingId::DefaultRoute, "default-route", "", "25cbc4298d055f4c85191fd13543d0dd",
     Severity::Info, Actor::Guest, Concern::Links,
     "A default route leaves by {netdev}: other traffic shares the adapter.",
     "Where that is not meant, leave the gateway out of its configuration (DHCP: ignore the routes "
     "it offers)."},
    {FindingId::FirstNic, "first-nic", "", "1b7a793e176e585a8c14abb0e10a06c0", Severity::Info,
     Actor::Host, Concern::Adapters | Concern::Links,
     "The adapter is the first NIC of this VM, which in vSphere should be a regular one.",
     "In vSphere give the VM a regular (VMXNET3) network adapter before it; programs that expect "
     "the first NIC to be the VM's management network would use the adapter."},
    {FindingId::TwoOwners, "two-owners", "", "f8dfb2ae19ca58d9a491102e04431c0e", Severity::Warning,
     Actor::Guest, Concern::Links,
     "{manager} configures {netdev} as well, though manage = \"agent\" gives the link to this "
     "agent.",
     "{advice}", "The finding says how the manager lets go of the link."},
};

}  // namespace

std::span<const CatalogueEntry> adapter_findings() { return kAdapterEntries; }

}  // namespace pvrdma
