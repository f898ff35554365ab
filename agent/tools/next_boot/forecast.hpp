// Forecast: what the next boot of this system will find, as far as files on disk tell: what
// `pvrdma-agentctl doctor --next-boot` looks at: plain values, comparable, no handles; and the
// look at those files, for this machine or an image.
//
// Nothing in /run counts, as it does not outlive this boot.
#pragma once

#include <string>
#include <vector>

#include "agent/model/config.hpp"
#include "agent/model/field.hpp"
#include "agent/model/memlock.hpp"
#include "agent/model/snapshot.hpp"
#include "probes/modprobe_config.hpp"
#include "probes/unit_files.hpp"

namespace pvrdma::ctl {
struct NextBootOptions;
}

namespace pvrdma {

// The kernel that the boot loader takes next.
struct NextKernel {
  std::string release;
  std::string by;         // how that is known: "saved_entry in /boot/grub2/grubenv"
  std::string options{};  // its command line, where the boot loader's files have it
  friend bool operator==(const NextKernel&, const NextKernel&) = default;
};

struct ShippedModule {
  std::string name;
  Field<Shipped> shipped;
  friend bool operator==(const ShippedModule&, const ShippedModule&) = default;
};

struct InitramfsForecast {
  std::string path;
  // Which of the driver, vmxnet3 and `modules.before` it holds; unreadable: who asks may not look
  // into it, or its compression is not known here.
  Field<std::vector<std::string>> modules;
  Field<bool> current;       // modprobe.d in it says of the driver what modprobe.d says now
  std::string older_than{};  // by its time alone: what it was built before; empty: nothing
  friend bool operator==(const InitramfsForecast&, const InitramfsForecast&) = default;
};

struct KernelForecast {
  std::string release;
  // "/boot/vmlinuz-…", or in the modules' folder, or as kernel-install(8) has it. Absent: it runs,
  // from nobody knows where. Unreadable: /boot, or where it may be, was not to be looked into.
  Field<std::string> image;
  bool running = false;                  // now
  std::vector<ShippedModule> modules{};  // the driver, vmxnet3, then `modules.before`
  Field<InitramfsForecast> initramfs{};  // absent: it has none; not looked for without a driver
  friend bool operator==(const KernelForecast&, const KernelForecast&) = default;
};

// Who will configure the link of an adapter, or of what an [[adapter]] matches.
struct LinkForecast {
  std::string adapter;  // "0000:13:00.1"; where that is not known, the match: "mac = \"…\""
  std::string netdev;   // empty: not known
  std::string mac;      // lower case; empty: not known
  Manage manage = Manage::Auto;
  bool addressed = false;  // the agent has addresses for it
  // By the network managers' configuration and which of them is enabled. Absent: none has it.
  Field<LinkOwner> owner;
  friend bool operator==(const LinkForecast&, const LinkForecast&) = default;
};

struct Forecast {
  Field<NextKernel> next;  // absent: the files do not tell
  std::vector<KernelForecast> kernels;
  // What modprobe loads before the driver, in its order; absent: no soft dependency says.
  Field<std::vector<std::string>> predecessors;
  Field<UnitFile> agent;     // pvrdma-agent.service; absent: not installed
  Field<UnitFile> executor;  // pvrdma-agent-executor.socket
  std::vector<LinkForecast> links;
  Field<MemlockLimit> login_memlock;
  std::vector<UnitMemlock> unit_memlocks;  // of the units that were asked for
  Field<std::vector<ModuleBlock>> blocks;
  std::vector<BootScript> boot_scripts;
  std::vector<Error> unreadable;  // what belongs to none of the above
  friend bool operator==(const Forecast&, const Forecast&) = default;
};

}  // namespace pvrdma

namespace pvrdma::probes {

// Below the root of the options; `config` is that system's. Read-only, asks no service, and needs
// no root: what may not be read is said to be unreadable.
[[nodiscard]] Forecast look_ahead(const Config& config, const ctl::NextBootOptions& options);

}  // namespace pvrdma::probes
