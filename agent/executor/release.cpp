// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/executor/release.hpp"

#include <algorithm>

#include "probes/modules.hpp"

namespace pvrdma::executor {

namespace {

bool is_about_driver(const Attempt& attempt) {
  return attempt.verb == Verb::ReloadDriver ||
         (attempt.verb == Verb::LoadModule && probes::module_name(attempt.target) == kDriverModule);
}

// False where the ledger cannot be read, as a driver that an administrator has unloaded must stay
// unloaded.
bool was_cut_short(const Places& places) {
  const auto ledger = codec::read_ledger(places.ledger);
  return ledger && std::ranges::any_of(ledger->attempts, [](const Attempt& attempt) {
           return !attempt.finished && is_about_driver(attempt);
         });
}

bool is_loaded(const Root& root) {
  return is_there(root / "/sys/module" / kDriverModule).value_or(false);
}

OperationResult bring_back_driver(const Places& places) {
  const auto modules = Modules::open(places.modules);
  if (!modules) return failed(modules.error());
  return insert_driver(places.root, [&] { return modules->insert(kDriverModule); });
}

}  // namespace

OperationResult release(const Places& places) {
  const auto functions = held_back(places.root);
  if (!functions) return failed(functions.error());
  OperationResult result = functions->empty() ? already_done("nothing was left half done") : done();
  if (is_loaded(places.root)) {
    for (const std::string& function : *functions)
      if (OperationResult bound = bind_function(places.root, function); !bound.good())
        result = std::move(bound);
    return result;
  }
  if (const auto free = free_held_back(places.root, *functions); !free) return failed(free.error());
  return was_cut_short(places) ? bring_back_driver(places) : result;
}

}  // namespace pvrdma::executor
