// SPDX-License-Identifier: GPL-2.0-or-later
// Snapshot: everything one look at the system saw. Plain values, comparable, no handles.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/model/attempt.hpp"
#include "agent/model/field.hpp"

namespace pvrdma {

inline constexpr const char* kDriverModule = "vmw_pvrdma";
inline constexpr const char* kNetModule = "vmxnet3";

// /sys/module/NAME/initstate, Linux kernel/module/sysfs.c
enum class ModuleInit { Coming, Live, Going, BuiltIn };

// Whether the running kernel's module index (libkmod) has the module.
enum class Shipped { Loadable, BuiltIn, Missing };

struct Module {
  std::string name;            // with underscores, as in /proc/modules
  Field<ModuleInit> init;      // absent: not loaded
  Field<unsigned> refcount;    // absent: not loaded, or built in
  Field<unsigned> load_order;  // larger was loaded later (/proc/modules read from its end)
  Field<Shipped> shipped;      // unreadable: the module index could not be read
  // Asked only of one that is not loaded: the modules that must be in the kernel before it, by the
  // index; and what keeps it from being loaded, for a person. Absent: nothing does.
  std::vector<std::string> needs{};
  Field<std::string> blocked{};
  friend bool operator==(const Module&, const Module&) = default;
};

// What configures links besides us. Master: the bond, bridge, team or VRF that a link is in.
enum class LinkManager { Networkd, NetworkManager, Ifupdown, Master };

struct LinkOwner {
  LinkManager manager = LinkManager::Networkd;
  // False: the manager runs or is about to start, and has not said whether it takes the link.
  bool decided = true;
  std::string file;      // the configuration it goes by: a .network file, a keyfile, interfaces(5)
  std::string master{};  // its name: "bond0"
  friend bool operator==(const LinkOwner&, const LinkOwner&) = default;
};

// An IP address on a link.
struct LinkAddress {
  std::string text;        // "192.168.30.201/24"
  bool ours = false;       // set by this agent
  bool tentative = false;  // IPv6: duplicate address detection has not ended (RFC 4862)
  bool duplicate = false;  // IPv6: somebody else has it
  friend bool operator==(const LinkAddress&, const LinkAddress&) = default;
};

// The one of that text; null: there is none.
[[nodiscard]] const LinkAddress* find_address(const std::vector<LinkAddress>& addresses,
                                              const std::string& text);

struct Netdev {
  std::string name;
  int index = 0;
  std::string mac;            // lower case
  std::string permanent_mac;  // the device's own; empty where the kernel does not say (before 5.6)
  unsigned mtu = 0;           // bytes
  Field<unsigned> mtu_min;    // absent where the kernel does not say
  Field<unsigned> mtu_max;
  bool up = false;                     // IFF_UP: administratively up
  Field<bool> carrier;                 // absent while the link is down, when it says nothing
  std::string operstate;               // "up", "down", "lowerlayerdown", … (RFC 2863, if_link.h)
  std::vector<LinkAddress> addresses;  // in the kernel's order
  Field<bool> settled;                 // udev has renamed it, or has finished with it and will not
  Field<LinkOwner> owner;              // absent: no network manager has it
  Field<bool> default_route;           // a route of prefix length 0 leaves by it
  friend bool operator==(const Netdev&, const Netdev&) = default;
};

// By which a link is known even where it has been given another: its own MAC, as far as the kernel
// says.
[[nodiscard]] const std::string& lasting_mac(const Netdev& netdev);

struct Gid {
  unsigned index = 0;
  std::string gid;          // as inet_ntop(3) writes it: "::ffff:192.168.30.201", "fe80::…"
  Field<std::string> type;  // "RoCE v2", "IB/RoCE v1"
  Field<std::string> netdev;
  friend bool operator==(const Gid&, const Gid&) = default;
};

// One reading of a port's attributes.
struct Port {
  Field<std::string> state;       // "ACTIVE", "DOWN", "INIT", "ARMED", "ACTIVE_DEFER", "NOP"
  Field<std::string> phys_state;  // sysfs's word with underscores: "LINK_UP", "DISABLED"
  // What ibv_query_port(3) says through the user-space provider, the same as `state`: absent where
  // it was not asked, or told of another moment's state; unreadable where no provider answers. The
  // agent asks when `state` has changed, not at each look.
  Field<std::string> verbs_state;
  Field<unsigned> active_mtu;     // bytes; only ibv_query_port(3) tells; 1024 is normal
  Field<std::string> link_layer;  // "Ethernet"
  friend bool operator==(const Port&, const Port&) = default;
};

struct RdmaDevice {
  std::string name;                  // "rocep19s0f1"
  std::vector<std::string> aliases;  // other names it had or has: "vmw_pvrdma0"
  Field<std::string> uverbs;         // "uverbs0": its node in /dev/infiniband
  Field<std::string> node_guid;      // "0250:56ff:fe8a:9fc2"
  Field<std::string> netdev;         // the netdev the driver has paired with it, by nldev
  Port port;                         // port 1: the adapter has one
  std::vector<Gid> gids;             // the non-zero ones
  friend bool operator==(const RdmaDevice&, const RdmaDevice&) = default;
};

// A PVRDMA adapter: the RDMA function, and the vmxnet3 function in the same slot.
struct Adapter {
  std::string function;           // 15ad:0820, "0000:13:00.1": the identity of the adapter
  std::string net_function;       // function 0 of the slot, "0000:13:00.0", there or not
  Field<std::string> driver;      // of `function`; absent: no driver is bound
  Field<std::string> net_driver;  // of `net_function`; absent: none, or no such function
  Field<Netdev> netdev;           // of `net_function`
  Field<RdmaDevice> rdma;         // of `function`
  friend bool operator==(const Adapter&, const Adapter&) = default;
};

// A process that has a verbs context of a PVRDMA adapter open, or what uses one in the kernel.
struct Holder {
  // 0: the kernel; or, without a command, a process that has ended and left its fd to another, or
  // lives in a PID namespace that is not visible from here.
  pid_t pid = 0;
  std::string command;  // /proc/PID/comm; empty where it could not be read; "nvmet_rdma (kernel)"
  std::string rdma_device;  // the device it holds
  friend bool operator==(const Holder&, const Holder&) = default;
};
// "ibv_asyncwatch (PID 812)", "nvmet_rdma (kernel)"
[[nodiscard]] std::string describe(const Holder& holder);

// The image that the running kernel is booted with.
struct Initramfs {
  std::string path;
  std::string older_than;  // the file it was built before, and should know; empty: none
  friend bool operator==(const Initramfs&, const Initramfs&) = default;
};

// A script of the field's that unloads and loads vmw_pvrdma at every boot, as this agent does where
// it must. What keeps the two from working against each other.
struct BootScript {
  std::string path;  // "/etc/rc.local", a crontab, a unit
  // It has run in this boot, or will not: only then is the driver the agent's to reload. False also
  // where that is not known.
  bool ended = false;
  friend bool operator==(const BootScript&, const BootScript&) = default;
};

// The first that has not ended; null: there is none.
[[nodiscard]] const BootScript* unfinished(const std::vector<BootScript>& scripts);

// What one look saw: the same again where nothing has changed.
struct SystemState {
  Field<std::string> kernel;             // release, uname(2)
  std::vector<Module> modules;           // Config's `before`, vmxnet3, vmw_pvrdma; loaded or not
  Field<std::vector<Adapter>> adapters;  // by function address; known and empty: there is none
  Field<std::vector<Holder>> holders;    // known and empty: nobody holds any adapter
  Field<std::string> first_nic;          // PCI address; not looked for where there is no adapter
  Field<Initramfs> initramfs;            // absent: none; not looked for where there is no adapter
  std::vector<BootScript> boot_scripts;  // not looked for where there is no adapter
  // What still customizes this VM, for a person; absent: nothing. Not looked for without adapters.
  Field<std::string> customization;
  Ledger ledger;  // what the executor did in this boot, as far as is known
  // Why more may have been done than `ledger` says: it cannot be read, or is not being written.
  std::optional<Error> ledger_error;

  [[nodiscard]] const Module* module(const std::string& name) const;
  [[nodiscard]] const Adapter* adapter(const std::string& function) const;
  friend bool operator==(const SystemState&, const SystemState&) = default;
};

// And when. The times are beside what was seen, and so compared with nothing.
struct Snapshot : SystemState {
  BootTime taken_at;      // when the look ended
  BootTime verbs_failed;  // when ibv_query_port(3) was last asked in vain
};

// What of an adapter could not be read, by the names that io.pvrdma.Agent has for it ("port.state",
// "gids[1].type"), with the Error of each.
[[nodiscard]] std::vector<std::pair<std::string, Error>> unreadable_of(const Adapter& adapter);

[[nodiscard]] const char* to_string(ModuleInit init);
[[nodiscard]] const char* to_string(Shipped shipped);
// "systemd-networkd", "NetworkManager", "ifupdown", "master"
[[nodiscard]] const char* to_string(LinkManager manager);
// The same, for a sentence: "its master bond0".
[[nodiscard]] std::string describe(const LinkOwner& owner);
[[nodiscard]] std::optional<ModuleInit> module_init_from(std::string_view text);
[[nodiscard]] std::optional<Shipped> shipped_from(std::string_view text);
[[nodiscard]] std::optional<LinkManager> link_manager_from(std::string_view text);

}  // namespace pvrdma
