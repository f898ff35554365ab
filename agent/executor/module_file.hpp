// SPDX-License-Identifier: GPL-2.0-or-later
// Checks whether the running kernel would accept a module's file, before the module is removed from
// the kernel: since the insertion the file may have been replaced, rebuilt, or lost its signature.
//
// The checks are those of Linux kernel/module/main.c and signing.c: the build that the file was
// made for (vermagic), and a signature if the kernel requires one. Not checked, as only the kernel
// can: whether the signature's key is enrolled, and the versions of the symbols that the module
// needs.
#pragma once

#include <libkmod.h>

#include <optional>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/base/handle.hpp"
#include "agent/model/operation_result.hpp"

namespace pvrdma::executor {

using ModuleList = Handle<kmod_list, kmod_module_unref_list>;
using KernelModule = Handle<kmod_module, kmod_module_unref>;
[[nodiscard]] std::vector<KernelModule> modules_in(const ModuleList& list);

// Why the running kernel (/proc and /sys below `root`) would not accept the module's file: Refused
// with the kernel's errno, or Failed where the file cannot be read. Empty: no reason was found.
[[nodiscard]] std::optional<OperationResult> objection_to_file(const Root& root,
                                                               kmod_module* module);

}  // namespace pvrdma::executor
