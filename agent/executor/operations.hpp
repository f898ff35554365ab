// SPDX-License-Identifier: GPL-2.0-or-later
// Operations: one operation from its request to its result.
//
//   configuration → look → guard → ledger → the kernel → ledger → OperationResult
//
// Configuration and facts are read again for each request, so no decision uses old data. Runs one
// operation at a time, and blocks as long as the kernel does; only a load of another module than
// the driver is left to itself where it takes too long (agent/executor/loads.hpp).
#pragma once

#include <filesystem>

#include "agent/base/file.hpp"
#include "agent/codec/ledger_file.hpp"
#include "agent/config/config_files.hpp"
#include "agent/executor/driver.hpp"
#include "agent/executor/guard.hpp"
#include "agent/executor/ledger.hpp"
#include "agent/executor/loads.hpp"
#include "agent/executor/modules.hpp"

namespace pvrdma::executor {

struct Places {
  // For configuration, /sys, /proc and /dev; modules and links are those of the running kernel.
  Root root;
  std::filesystem::path ledger = codec::kLedgerPath;
  std::filesystem::path access_memo = kAccessMemo;
  ModulePaths modules;
};

class Operations {
 public:
  // Opens the ledger, and ends attempts in it that a dead executor left unfinished.
  explicit Operations(Places places, Milliseconds load_patience = kLoadPatience);

  [[nodiscard]] OperationResult run(const Operation& operation, Caller caller);

  // Whether the load of a module goes on, in its thread, after its operation has failed for that.
  // The program must not end by itself meanwhile, as this would kill an `install` command, and it
  // must not run the destructors of static objects.
  [[nodiscard]] bool is_loading() const { return loads_.under_way(); }

  // Why the ledger cannot be written; empty: it can.
  [[nodiscard]] const Result<void>& ledger_state() const noexcept { return ledger_.state(); }

 private:
  // What the guard judges an operation by; read anew for each operation.
  struct Ground {
    LoadedConfig loaded;
    Facts facts;
  };
  [[nodiscard]] Ground look_for(const Operation& operation) const;
  // What the guard says to the operation now; none: it is allowed.
  [[nodiscard]] std::optional<OperationResult> refused_now(const Operation& operation) const;
  // The refusal of a load that is under way already; none: it is not.
  [[nodiscard]] std::optional<OperationResult> still_loading(const Operation& operation) const;

  OperationResult act(const LoadModule& operation);
  OperationResult act(const BindFunction& operation);
  OperationResult act(const RebindFunction& operation);
  OperationResult act(const ReloadDriver& operation);
  OperationResult act(const ConfigureLink& operation, const Ground& ground);

  Places places_;
  LedgerWriter ledger_;
  Loads loads_;
};

// Finishes what a killed executor has left half done, when no other executor will run: the package
// is being removed.
//
// While the agent runs, its next look sees such a state and mends it. Without the agent, a reload
// that was killed between removal and insertion would leave the VM without RDMA, and no modprobe
// would bind functions that are held back (kHeldBack) until the next boot. A verbs node that
// was left closed would keep processes out.

// Must be called only when no executor runs. Opens the verbs node that was left closed.
// Releases the functions that are held back, and binds them if the driver is loaded. Inserts the
// driver if its newest reload or load in the ledger was never completed. AlreadyDone: nothing was
// left half done. The detail of a good result tells what a person should know, for instance a
// function that could not be bound.
[[nodiscard]] OperationResult release(const Places& places);

}  // namespace pvrdma::executor
