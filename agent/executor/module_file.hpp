// SPDX-License-Identifier: GPL-2.0-or-later
// The file of a module beside what the running kernel takes, read before the module in the kernel
// is removed: a file may have been replaced, rebuilt, or lost its signature since that was
// inserted.
//
// As Linux kernel/module/main.c and signing.c ask: the build it was made for (vermagic), and a
// signature where the kernel insists on one. Not looked at, as the kernel alone can tell: whether
// the signature's key is enrolled, and the versions of the symbols that it needs.
#pragma once

#include <optional>

#include "agent/base/file.hpp"
#include "agent/model/report.hpp"

struct kmod_module;

namespace pvrdma::executor {

// Why the running kernel, as /proc and /sys below `root` show it, would not take the module from
// its file: Refused with the kernel's errno, or Failed where the file cannot be read. Empty:
// nothing speaks against it.
[[nodiscard]] std::optional<Report> objection_to_file(const Root& root, kmod_module* module);

}  // namespace pvrdma::executor
