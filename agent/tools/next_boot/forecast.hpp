// SPDX-License-Identifier: GPL-2.0-or-later
// Forecast: what the next boot of this system will find, as far as files on disk tell, in plain
// values; and the look at those files, for this machine or an image. What `pvrdma-agentctl doctor
// --next-boot` judges.
//
// Nothing in /run counts, as it does not outlive this boot.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"
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
  std::vector<std::string> needs{};  // the modules that are loaded with it
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
  Field<std::vector<FunctionClaim>> claims;
  std::vector<BootScript> boot_scripts;
  std::vector<Error> unreadable;  // what belongs to none of the above
};

}  // namespace pvrdma

namespace pvrdma::probes {

// Below the root of the options; `config` is that system's. Read-only, asks no service, and needs
// no root: what may not be read is said to be unreadable.
[[nodiscard]] Forecast look_ahead(const Config& config, const ctl::NextBootOptions& options);

// Parts of it.

// Of the folders of /lib/modules with a module index, by release: those with an image, as others
// are what was left over; and `running` (empty: none), wherever it was booted from. What they hold
// is not looked at.
[[nodiscard]] Result<std::vector<KernelForecast>> installed_kernels(const Root& root,
                                                                    const std::string& running);
// By GRUB's configuration; where there is none by the link that the distribution keeps; or because
// there is one only. Absent: these do not tell. Unreadable: they may not be read.
[[nodiscard]] Field<NextKernel> next_kernel(const Root& root,
                                            const std::vector<KernelForecast>& installed);
// What modprobe loads before the driver, whoever asks for that: the soft dependencies that
// modprobe.d gives it. For a name that only an `install` line knows, what that line's modprobe
// loads (units/pvrdma-agent.modprobe.in). Absent: there are none.
[[nodiscard]] Field<std::vector<std::string>> driver_predecessors(const ModprobeConfig& config);
// The names that "/sbin/modprobe --quiet --all vmxnet3 ib_umad" loads; none of another command.
[[nodiscard]] std::vector<std::string> loaded_by(std::string_view command);

}  // namespace pvrdma::probes
