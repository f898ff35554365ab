// SPDX-License-Identifier: GPL-2.0-or-later
// Forecast: the state that the next boot of this system will find, as far as files on disk tell, in
// plain values; and the reading of those files, for this machine or an image. `pvrdma-agentctl
// doctor --next-boot` judges it.
//
// Files in /run do not count: they do not outlive this boot.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/config.hpp"
#include "agent/model/field.hpp"
#include "agent/model/snapshot.hpp"
#include "agent/tools/survey/function_claims.hpp"
#include "agent/tools/survey/memlock.hpp"
#include "agent/tools/survey/unit_files.hpp"
#include "probes/modprobe_config.hpp"

namespace pvrdma::ctl {
struct NextBootOptions;
}

namespace pvrdma {

// The kernel that the boot loader will take.
struct NextKernel {
  std::string release;
  std::string by;         // the source: "saved_entry in /boot/grub2/grubenv"
  std::string options{};  // its command line, if the boot loader's files have it
  friend bool operator==(const NextKernel&, const NextKernel&) = default;
};

struct ShippedModule {
  std::string name;
  Field<Shipped> shipped;
  std::vector<std::string> needs{};  // modules loaded together with it
  friend bool operator==(const ShippedModule&, const ShippedModule&) = default;
};

struct InitramfsForecast {
  std::string path;
  // Those of the driver, vmxnet3 and `modules.before` that the image holds. Unreadable: this user
  // may not read the image, or its compression is not known here.
  Field<std::vector<std::string>> modules;
  Field<bool> current;       // its modprobe.d has the same settings for the driver as the system's
  std::string older_than{};  // a file newer than the image, by time alone; empty: none
  friend bool operator==(const InitramfsForecast&, const InitramfsForecast&) = default;
};

struct KernelForecast {
  std::string release;
  // "/boot/vmlinuz-…", or in the modules' folder, or in kernel-install(8)'s. Absent: the kernel
  // runs, and its file was not found. Unreadable: /boot, or another such folder, may not be read.
  Field<std::string> image;
  bool running = false;                  // it runs now
  std::vector<ShippedModule> modules{};  // the driver, vmxnet3, then `modules.before`
  Field<InitramfsForecast> initramfs{};  // absent: no image; without a driver it is not looked for
  // Absent: Secure Boot is off, the driver is no module, or the root is an image.
  Field<bool> driver_signed{};
  friend bool operator==(const KernelForecast&, const KernelForecast&) = default;
};

// The program that will configure the link of an adapter, or of what an [[adapter]] matches.
struct LinkForecast {
  std::string adapter;  // "0000:13:00.1"; where that is not known, the match: "mac = \"…\""
  std::string netdev;   // empty: not known
  std::string mac;      // lower case; empty: not known
  Manage manage = Manage::Auto;
  bool addressed = false;  // the agent has addresses for it
  // From the network managers' configuration, and from which of them is enabled. Absent: none has
  // it.
  Field<LinkOwner> owner;
};

struct Forecast {
  Field<NextKernel> next;  // absent: the files do not tell
  std::vector<KernelForecast> kernels;
  // The modules that modprobe loads before the driver, in order; absent: there is no soft
  // dependency.
  Field<std::vector<std::string>> predecessors;
  Field<UnitFile> agent;     // pvrdma-agent.service; absent: not installed
  Field<UnitFile> executor;  // pvrdma-agent-executor.socket
  std::vector<LinkForecast> links;
  Field<MemlockLimit> login_memlock;       // absent: not known here
  std::vector<UnitMemlock> unit_memlocks;  // of the units that were asked for
  Field<std::vector<ModuleBlock>> blocks;
  Field<std::vector<FunctionClaim>> claims;
  std::vector<BootScript> boot_scripts;
  std::vector<Error> unreadable;  // errors that belong to none of the above
};

}  // namespace pvrdma

namespace pvrdma::probes {

// Reads the system below the root of the options; `config` is that system's. Read-only; asks no
// service, and needs no root: a file that this user may not read is named in `unreadable`.
[[nodiscard]] Forecast look_ahead(const Config& config, const ctl::NextBootOptions& options);

// The parts of look_ahead().

// The folders of /lib/modules with a module index, by release. A folder counts only where its
// kernel has an image, as others are left over from removed kernels; `running` (empty: none) counts
// in any case. Their contents are not read.
[[nodiscard]] Result<std::vector<KernelForecast>> installed_kernels(const Root& root,
                                                                    const std::string& running);
// From GRUB's configuration; without it from the link that the distribution keeps; or because only
// one kernel is there. Absent: none of these tells. Unreadable: they may not be read.
[[nodiscard]] Field<NextKernel> next_kernel(const Root& root,
                                            const std::vector<KernelForecast>& installed);
// The modules that modprobe loads before the driver, for any caller: modprobe.d's soft dependencies
// of the driver. For a name that only an `install` line defines, the modules that this line's
// modprobe loads (units/pvrdma-agent.modprobe.in). Absent: there are none.
[[nodiscard]] Field<std::vector<std::string>> driver_predecessors(const ModprobeConfig& config);
// The names that "/sbin/modprobe --quiet --all vmxnet3 ib_umad" loads; another command loads none.
[[nodiscard]] std::vector<std::string> loaded_by(std::string_view command);

}  // namespace pvrdma::probes
