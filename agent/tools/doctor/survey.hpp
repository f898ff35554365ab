// SPDX-License-Identifier: GPL-2.0-or-later
// Survey: what `pvrdma-agentctl doctor` looks at besides a Snapshot: the surroundings in which
// applications use an adapter. Plain values, comparable, no handles.
#pragma once

#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/model/field.hpp"
#include "agent/tools/survey/function_claims.hpp"
#include "agent/tools/survey/link_files.hpp"
#include "agent/tools/survey/machine.hpp"
#include "agent/tools/survey/memlock.hpp"
#include "probes/modprobe_config.hpp"

namespace pvrdma {

// A character device in /dev/infiniband.
struct DeviceNode {
  std::string name;      // "uverbs0", "rdma_cm"
  unsigned mode = 0;     // permission bits
  Field<bool> openable;  // by this process, for reading and writing: access(2)
  friend bool operator==(const DeviceNode&, const DeviceNode&) = default;
};

// A shared library and the version of the private interface between libibverbs and its providers: N
// of the symbol version IBVERBS_PRIVATE_N, or of a provider's name "libvmw_pvrdma-rdmavN.so"
// (rdma-core, CMakeLists.txt: IBVERBS_PABI_VERSION). libibverbs and provider need the same N.
struct VerbsLibrary {
  std::string path;
  Field<unsigned> private_abi;  // absent: the library has none, as a vendor's may
  friend bool operator==(const VerbsLibrary&, const VerbsLibrary&) = default;
};

struct Libraries {
  std::vector<VerbsLibrary> verbs;      // libibverbs.so.1, in the order of the dynamic linker
  std::vector<VerbsLibrary> providers;  // vmw_pvrdma's, each in a folder of providers
  std::string driver_folder;            // where the first libibverbs looks for names of providers
  // A file of that folder that makes libibverbs load the provider; absent: there is none.
  Field<std::string> driver_file;
  // Traces of a vendor's OFED, for a person: "package libibverbs1 51mlnx1-1.51258",
  // "/etc/ld.so.conf.d/mlnx.conf: /opt/mellanox/lib".
  std::vector<std::string> vendor;
  // Names of the vendor's packages among them. Absent: there is no dpkg, so packages may be rpm's.
  Field<std::vector<std::string>> vendor_packages;
  friend bool operator==(const Libraries&, const Libraries&) = default;
};

// An address of an interface.
struct NamedAddress {
  std::string netdev;
  std::string text;  // "192.0.2.7/24"
  friend bool operator==(const NamedAddress&, const NamedAddress&) = default;
};

// A crash inside the kernel, as the kernel's log or its taint flags tell it.
struct KernelCrash {
  std::string line;        // the first line of the oops; empty: only the taint flag is known
  bool in_driver = false;  // vmw_pvrdma is in its call trace
  friend bool operator==(const KernelCrash&, const KernelCrash&) = default;
};

// A line of a script that loads or unloads vmw_pvrdma independently of the agent (probes/recipe).
struct ReloadLine {
  std::string file;
  unsigned line = 0;  // from 1
  std::string text;
  std::string when;      // "run at every boot", "run when a link changes"
  bool at_boot = false;  // it runs at boot
  friend bool operator==(const ReloadLine&, const ReloadLine&) = default;
};

// The reason in the kernel's log why the driver was not loaded, or why its probe of a function
// failed.
struct DriverComplaint {
  enum class Cause {
    Order,          // its probe found no interface of vmxnet3
    NoRoce,         // the device offers no RoCE
    Probe,          // another error of its probe
    MissingSymbol,  // a module that it needs is not in the kernel
    OtherVersion,   // the module it needs is another version than the one it was built for
  };
  Cause cause = Cause::Probe;
  std::string function;  // "0000:0b:00.1"; empty: the module failed, not a function
  std::string line;
  friend bool operator==(const DriverComplaint&, const DriverComplaint&) = default;
};

// NetworkManager's profiles for one link, in the order in which it prefers them.
struct LinkProfiles {
  std::string netdev;
  std::vector<LinkProfile> profiles;  // at least two
  friend bool operator==(const LinkProfiles&, const LinkProfiles&) = default;
};

struct Survey {
  Field<std::string> container;  // the container's engine: "docker", "lxc"; absent: no container
  Field<std::string> vendor;     // of the machine, DMI: "VMware, Inc."
  Field<std::string> product;    // "VMware7,1"
  // The answer of systemd-detect-virt(1): "vmware", "kvm", "none". Absent: not asked, because DMI
  // tells, or because the answer would be the container's own type.
  Field<std::string> virtualization;
  Field<std::vector<DeviceNode>> nodes;      // absent: no /dev/infiniband
  Field<Libraries> libraries;                // in this process's file system
  Field<MemlockLimit> own_memlock;           // of this process
  bool in_slurm_job = false;                 // this process runs in a job of Slurm
  Field<bool> may_lock_all;                  // CAP_IPC_LOCK: the limit does not count
  Field<MemlockLimit> login_memlock;         // for every login; absent: not known here
  std::vector<UnitMemlock> unit_memlocks;    // of the units that were asked for
  Field<std::vector<std::string>> vmxnet3;   // PCI functions 15ad:07b0, first to last
  Field<std::vector<std::string>> mellanox;  // PCI functions of vendor 15b3, "0000:0b:00.0"
  Field<std::vector<ModuleBlock>> blocks;    // of the driver and the modules that go before it
  Field<std::vector<FunctionClaim>> claims;  // drivers that would take functions of adapters
  Field<bool> secure_boot;                   // absent: not booted by EFI
  Field<std::string> driver_signer;          // absent: not signed, or no such module
  Field<OsRelease> os;
  Field<KernelCrash> crash;                 // absent: none in this boot
  std::vector<DriverComplaint> complaints;  // empty also where the kernel's log may not be read
  ClockState clock;
  Field<std::vector<NamedAddress>> addresses;  // of all interfaces here but the loopback
  // Of files that this user may read
  std::vector<ReloadLine> reloads;
  std::vector<std::string> reloads_unread;    // files not read for these lines, with the reason
  std::vector<LinkProfiles> profiles;         // of adapters' links
  std::vector<std::string> refused_profiles;  // which NetworkManager does not accept
  std::vector<MacFile> foreign_macs;  // which no interface has; empty where not all can be seen
  friend bool operator==(const Survey&, const Survey&) = default;
};

}  // namespace pvrdma
