// SPDX-License-Identifier: GPL-2.0-or-later
// Modules: insertion and removal by libkmod, as modprobe(8) does it, with typed outcomes.
//
// Block lists apply: a module in modprobe.d's `blacklist` is Refused even if it was requested by
// name, and so is one whose `install` command is false(1) or true(1). Any other `install` command
// is run, as by modprobe (rdma-core ships one for mlx4_core in some distributions), and is named in
// the result. Removal never waits, and removes no dependency.
#pragma once

#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/base/handle.hpp"
#include "agent/model/operation_result.hpp"

struct kmod_ctx;
extern "C" kmod_ctx* kmod_unref(kmod_ctx* context);

namespace pvrdma::executor {

// Empty: libkmod's defaults, /lib/modules/RELEASE and the modprobe.d directories.
struct ModulePaths {
  std::string index_directory;
  std::vector<std::string> config_directories;
};

class Modules {
 public:
  // Reads modprobe.d. The only error is ENOMEM.
  [[nodiscard]] static Result<Modules> open(const ModulePaths& paths = {});

  // Inserts a module, its dependencies and soft dependencies; an alias stands for all its modules.
  [[nodiscard]] OperationResult insert(const std::string& name) const;
  // The probable result of insert(), without inserting: Done, or why not.
  [[nodiscard]] OperationResult rehearse(const std::string& name) const;
  // The same for a loaded module that will be removed and inserted again: also checks its file
  // (agent/executor/module_file.hpp).
  [[nodiscard]] OperationResult rehearse_again(const Root& root, const std::string& name) const;
  // InUse where the module, or one that needs it, has users; the kernel decides atomically.
  [[nodiscard]] OperationResult remove(const std::string& name) const;

 private:
  using Context = Handle<kmod_ctx, kmod_unref>;
  explicit Modules(Context context) : context_(std::move(context)) {}

  Context context_;
};

// The meaning of an errno of init_module(2) and delete_module(2) for that module.
[[nodiscard]] OperationResult insertion_report(const std::string& name, int code);
[[nodiscard]] OperationResult removal_report(const std::string& name, int code);

}  // namespace pvrdma::executor
