// SPDX-License-Identifier: GPL-2.0-or-later
// Survey: what `pvrdma-agentctl doctor` looks at beside a Snapshot: the surroundings in which
// applications use an adapter. Plain values, comparable, no handles.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/model/field.hpp"
#include "agent/model/memlock.hpp"
#include "probes/machine.hpp"
#include "probes/modprobe_config.hpp"

namespace pvrdma {

// A character device in /dev/infiniband.
struct DeviceNode {
  std::string name;      // "uverbs0", "rdma_cm"
  unsigned mode = 0;     // permission bits
  Field<bool> openable;  // by this process, for reading and writing: access(2)
  friend bool operator==(const DeviceNode&, const DeviceNode&) = default;
};

// A shared library and the version of the private interface between libibverbs and its providers:
// N of its symbol version IBVERBS_PRIVATE_N, or of a provider's name "libvmw_pvrdma-rdmavN.so"
// (rdma-core, CMakeLists.txt: IBVERBS_PABI_VERSION). They must be equal.
struct VerbsLibrary {
  std::string path;
  Field<unsigned> private_abi;  // absent: it has none, as a vendor's may
  friend bool operator==(const VerbsLibrary&, const VerbsLibrary&) = default;
};

struct Libraries {
  std::vector<VerbsLibrary> verbs;      // libibverbs.so.1, in the order of the dynamic linker
  std::vector<VerbsLibrary> providers;  // of vmw_pvrdma, each in a folder of providers
  // A file of /etc/libibverbs.d that has libibverbs load the provider; absent: none does.
  Field<std::string> driver_file;
  // Traces of a vendor's OFED, for a person: "package libibverbs1 51mlnx1-1.51258",
  // "/etc/ld.so.conf.d/mlnx.conf: /opt/mellanox/lib".
  std::vector<std::string> vendor;
  friend bool operator==(const Libraries&, const Libraries&) = default;
};

// What the kernel's log, or its taint flags, say about a crash inside the kernel.
struct KernelCrash {
  std::string line;        // the first line of the oops; empty: only the taint flag is known
  bool in_driver = false;  // vmw_pvrdma is in its call trace
  friend bool operator==(const KernelCrash&, const KernelCrash&) = default;
};

// A line that loads or unloads vmw_pvrdma beside the agent (probes/recipe).
struct ReloadLine {
  std::string file;
  unsigned line = 0;  // from 1
  std::string text;
  std::string when;      // "run at every boot", "run when a link changes"
  bool at_boot = false;  // it runs at boot
  friend bool operator==(const ReloadLine&, const ReloadLine&) = default;
};

// Why the driver was not loaded, or gave up a function, as the kernel's log has it.
struct DriverComplaint {
  enum class Cause {
    Order,          // its probe found no interface of vmxnet3
    NoRoce,         // the device offers none
    Probe,          // another error of its probe
    MissingSymbol,  // a module that it needs is not in the kernel
    OtherVersion,   // that module is another than the one it was built for
  };
  Cause cause = Cause::Probe;
  std::string function;  // "0000:0b:00.1"; empty: of the module
  std::string line;
  friend bool operator==(const DriverComplaint&, const DriverComplaint&) = default;
};

struct Survey {
  Field<std::string> container;  // what runs it: "docker", "lxc"; absent: no container
  Field<std::string> vendor;     // of the machine, DMI: "VMware, Inc."
  Field<std::string> product;    // "VMware7,1"
  // As systemd-detect-virt(1) names it: "vmware", "kvm", "none". Absent: not asked, as DMI tells or
  // a container's own type would be the answer.
  Field<std::string> virtualization;
  Field<std::vector<DeviceNode>> nodes;      // absent: no /dev/infiniband
  Field<Libraries> libraries;                // of this file system
  Field<MemlockLimit> own_memlock;           // of this process
  Field<bool> may_lock_all;                  // CAP_IPC_LOCK: the limit does not count
  Field<MemlockLimit> login_memlock;         // of everybody; absent: not known here
  std::vector<UnitMemlock> unit_memlocks;    // of the units that were asked for
  Field<std::vector<std::string>> vmxnet3;   // PCI functions 15ad:07b0, first to last
  Field<std::vector<std::string>> mellanox;  // PCI functions of vendor 15b3, "0000:0b:00.0"
  Field<std::vector<ModuleBlock>> blocks;    // of the driver and the modules that go before it
  Field<std::vector<FunctionClaim>> claims;  // of functions of adapters
  Field<bool> secure_boot;                   // absent: not booted by EFI
  Field<std::string> driver_signer;          // absent: not signed, or no such module
  Field<OsRelease> os;
  Field<KernelCrash> crash;                 // absent: none in this boot
  std::vector<DriverComplaint> complaints;  // empty also where the kernel's log may not be read
  ClockState clock;
  std::vector<ReloadLine> reloads;  // of files that this user may read
  friend bool operator==(const Survey&, const Survey&) = default;
};

}  // namespace pvrdma
