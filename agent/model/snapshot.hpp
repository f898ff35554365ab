// SPDX-License-Identifier: GPL-2.0-or-later
// Snapshot: everything one look at the system saw. Plain values, comparable, no handles.
#pragma once

#include <sys/types.h>
#include <array>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/model/attempt.hpp"
#include "agent/model/field.hpp"
#include "agent/model/port_state.hpp"

namespace pvrdma {

inline constexpr const char* kDriverModule = "vmw_pvrdma";
inline constexpr const char* kNetModule = "vmxnet3";
// An adapter needs both: the first drives its RDMA function, the second its NIC.
[[nodiscard]] inline bool drives_adapters(std::string_view module) {
  return module == kDriverModule || module == kNetModule;
}

// /sys/module/NAME/initstate, Linux kernel/module/sysfs.c
enum class ModuleInit { Coming, Live, Going, BuiltIn };
template <>
inline constexpr auto kWordsOf<ModuleInit> =
    std::to_array<Word<ModuleInit>>({{ModuleInit::Coming, "coming"},
                                     {ModuleInit::Live, "live"},
                                     {ModuleInit::Going, "going"},
                                     {ModuleInit::BuiltIn, "built-in"}});

// Whether the running kernel's module index (libkmod) has the module.
enum class Shipped { Loadable, BuiltIn, Missing };
template <>
inline constexpr auto kWordsOf<Shipped> =
    std::to_array<Word<Shipped>>({{Shipped::Loadable, "loadable"},
                                  {Shipped::BuiltIn, "built-in"},
                                  {Shipped::Missing, "missing"}});

struct Module {
  std::string name;            // with underscores, as in /proc/modules
  Field<ModuleInit> init;      // absent: not loaded
  Field<unsigned> refcount;    // absent: not loaded, or built in
  Field<unsigned> load_order;  // larger was loaded later (/proc/modules read from its end)
  Field<Shipped> shipped;      // unreadable: the module index could not be read
  // Read only for a module that is not loaded. `needs`: the modules that must be in the kernel
  // before it, by the index. `blocked`: a readable text about what blocks its load; absent: nothing
  // does.
  std::vector<std::string> needs{};
  Field<std::string> blocked{};
  friend bool operator==(const Module&, const Module&) = default;
};

// Whether the module's init function has ended well: the module is live, or built in.
[[nodiscard]] inline bool is_live(const Module& module) {
  return module.init.is(ModuleInit::Live) || module.init.is(ModuleInit::BuiltIn);
}

// The programs that may manage a link instead of the agent. Master: the bond, bridge or team that
// the link belongs to.
enum class LinkManager { Networkd, NetworkManager, Ifupdown, Master };
template <>
inline constexpr auto kWordsOf<LinkManager> =
    std::to_array<Word<LinkManager>>({{LinkManager::Networkd, "systemd-networkd"},
                                      {LinkManager::NetworkManager, "NetworkManager"},
                                      {LinkManager::Ifupdown, "ifupdown"},
                                      {LinkManager::Master, "master"}});

struct LinkOwner {
  LinkManager manager = LinkManager::Networkd;
  // False: the manager runs or is about to start, and has not decided whether it takes the link.
  bool decided = true;
  std::string file;      // the manager's configuration: a .network file, a keyfile, interfaces(5)
  std::string master{};  // name of the master: "bond0"
  friend bool operator==(const LinkOwner&, const LinkOwner&) = default;
};

// An IP address on a link.
struct LinkAddress {
  std::string text;        // "192.168.30.201/24"
  bool ours = false;       // set by this agent
  bool tentative = false;  // IPv6: duplicate address detection has not ended (RFC 4862)
  bool duplicate = false;  // IPv6: another host has it
  friend bool operator==(const LinkAddress&, const LinkAddress&) = default;
};

// The address with that text; null: there is none.
[[nodiscard]] const LinkAddress* find_address(const std::vector<LinkAddress>& addresses,
                                              const std::string& text);
// Whether another program has set the same IPv4 address with another prefix length. Both have one
// GID, which goes with the first of the two (addr_event(), Linux
// drivers/infiniband/core/roce_gid_mgmt.c).
[[nodiscard]] bool has_foreign_twin(const std::vector<LinkAddress>& addresses,
                                    const LinkAddress& address);

struct Netdev {
  std::string name;
  int index = 0;
  std::string mac;            // lower case
  std::string permanent_mac;  // of the device; empty where the kernel does not tell (before 5.6)
  unsigned mtu = 0;           // bytes
  Field<unsigned> mtu_min;    // absent where the kernel does not tell
  Field<unsigned> mtu_max;
  bool link_up = false;                // IFF_UP: administratively up
  Field<bool> carrier;                 // absent while the link is down, when it means nothing
  std::string operstate;               // "up", "down", "lowerlayerdown", … (RFC 2863, if_link.h)
  std::vector<LinkAddress> addresses;  // in the kernel's order
  Field<bool> settled;        // udev has renamed it, or is done with it and will not rename it
  Field<LinkOwner> owner;     // absent: no network manager has it
  Field<bool> default_route;  // a route of prefix length 0 uses this netdev
  friend bool operator==(const Netdev&, const Netdev&) = default;
};

// The permanent MAC, by which a link is known even after its MAC was changed; the present MAC where
// the kernel does not tell the permanent one.
[[nodiscard]] const std::string& lasting_mac(const Netdev& netdev);

// The types of GIDs (Linux drivers/infiniband/core/cache.c, gid_type_str[]).
inline constexpr const char* kRoceV1 = "IB/RoCE v1";
inline constexpr const char* kRoceV2 = "RoCE v2";

struct Gid {
  unsigned index = 0;
  std::string gid;          // as inet_ntop(3) writes it: "::ffff:192.168.30.201", "fe80::…"
  Field<std::string> type;  // kRoceV1, kRoceV2
  Field<std::string> netdev;
  friend bool operator==(const Gid&, const Gid&) = default;
};

// Whether there are GIDs, and all of them are of type kRoceV1.
[[nodiscard]] bool has_only_roce_v1(const std::vector<Gid>& gids);

// One reading of a port's attributes.
struct Port {
  Field<PortState> state;
  Field<PhysState> phys_state;
  // The state that ibv_query_port(3) reports through the user-space provider. Absent where it was
  // not called, or where the state changed meanwhile; unreadable where no provider answers. The
  // agent calls it when `state` has changed, not at each look.
  Field<PortState> verbs_state;
  Field<unsigned> active_mtu;     // bytes; only from ibv_query_port(3); 1024 is normal
  Field<std::string> link_layer;  // "Ethernet"
  friend bool operator==(const Port&, const Port&) = default;
};

struct RdmaDevice {
  std::string name;                  // "rocep19s0f1"
  std::vector<std::string> aliases;  // other names it had or has: "vmw_pvrdma0"
  Field<std::string> uverbs;         // "uverbs0": its node in /dev/infiniband
  Field<std::string> node_guid;      // "0250:56ff:fe8a:9fc2"
  Field<std::string> netdev;         // the netdev that the driver has paired with it, from nldev
  Port port;                         // port 1, the only one
  std::vector<Gid> gids;             // the non-zero ones
  friend bool operator==(const RdmaDevice&, const RdmaDevice&) = default;
};

// A PVRDMA adapter: the RDMA function, and the vmxnet3 function in the same slot.
struct Adapter {
  std::string function;           // 15ad:0820, "0000:13:00.1": the identity of the adapter
  std::string net_function;       // function 0 of the slot, "0000:13:00.0", present or not
  Field<std::string> driver;      // of `function`; absent: no driver is bound
  Field<std::string> net_driver;  // of `net_function`; absent: no driver, or no such function
  Field<Netdev> netdev;           // of `net_function`
  Field<RdmaDevice> rdma_device;  // of `function`
  friend bool operator==(const Adapter&, const Adapter&) = default;
};

// Whether `name` is the address of either function of the adapter, its netdev or its RDMA device.
[[nodiscard]] bool is_called(const Adapter& adapter, const std::string& name);

// A process that has a verbs context of a PVRDMA adapter open, or a kernel module that uses one.
struct Holder {
  // 0: the kernel; or, without a command, a process that is not visible: it has ended and left its
  // fd to another process, or is in another PID namespace.
  pid_t pid = 0;
  std::string command;  // /proc/PID/comm; empty where it could not be read; "nvmet_rdma (kernel)"
  std::string rdma_device;  // the device it holds
  friend bool operator==(const Holder&, const Holder&) = default;
};
// "ibv_asyncwatch (PID 812)", "nvmet_rdma (kernel)"
[[nodiscard]] std::string describe(const Holder& holder);
// The first four, and how many more there are: any user can have thousands of processes.
[[nodiscard]] std::string describe(const std::vector<Holder>& holders);

// The initramfs image of the running kernel.
struct Initramfs {
  std::string path;
  std::string older_than;  // a file that is newer than the image and belongs in it; empty: none
  friend bool operator==(const Initramfs&, const Initramfs&) = default;
};

// A site's own script that unloads and loads vmw_pvrdma at every boot. The agent must know of it,
// so that the two do not reload the driver against each other.
struct BootScript {
  std::string path;  // "/etc/rc.local", a crontab, a unit
  // True: it has run in this boot, or will not run. Only then may the agent reload the driver.
  // False also where this is not known.
  bool ended = false;
  friend bool operator==(const BootScript&, const BootScript&) = default;
};

// The first script that has not ended; null: there is none.
[[nodiscard]] const BootScript* unfinished(const std::vector<BootScript>& scripts);

// The state that one look saw, without times: two looks yield equal values where nothing has
// changed.
struct SystemState {
  Field<std::string> kernel;             // release, uname(2)
  std::vector<Module> modules;           // Config's `before`, vmxnet3, vmw_pvrdma; loaded or not
  Field<std::vector<Adapter>> adapters;  // by function address; known and empty: there is none
  Field<std::vector<Holder>> holders;    // known and empty: no adapter has a holder
  Field<std::string> first_nic;          // PCI address; absent where there is no adapter
  Field<Initramfs> initramfs;            // absent: none, or there is no adapter
  std::vector<BootScript> boot_scripts;  // empty where there is no adapter
  // Why `boot_scripts` are those of an earlier look, and not known to have ended; none: they are
  // those of this look.
  std::optional<Error> boot_scripts_error;
  // A readable name of what still customizes this VM; absent: nothing, or there is no adapter.
  Field<std::string> customization;
  Ledger ledger;  // what the executor did in this boot, as far as it is known
  // Why the ledger may be incomplete: it cannot be read, or is not being written.
  std::optional<Error> ledger_error;

  [[nodiscard]] const Module* module(const std::string& name) const;
  [[nodiscard]] const Adapter* adapter(const std::string& function) const;
  friend bool operator==(const SystemState&, const SystemState&) = default;
};

// SystemState with its times. Comparisons use SystemState, so they ignore the times.
struct Snapshot : SystemState {
  BootTime taken_at;      // when the look ended
  BootTime verbs_failed;  // when ibv_query_port(3) failed last
};

// The name in io.pvrdma.Agent of a field of an adapter (agent/model/fields.hpp):
// "rdma_device.port.state" is "port.state" there, and "rdma_device.netdev" is "rdma_netdev".
[[nodiscard]] std::string interface_name(std::string_view path);

// The unreadable fields of an adapter, by these names, each with its Error.
[[nodiscard]] std::vector<std::pair<std::string, Error>> unreadable_of(const Adapter& adapter);

// The manager, for a sentence: "NetworkManager", "its master bond0".
[[nodiscard]] std::string describe(const LinkOwner& owner);

}  // namespace pvrdma
