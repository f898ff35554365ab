#include "agent/plan/trying.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "agent/model/budget.hpp"
#include "agent/plan/findings.hpp"

namespace pvrdma {

namespace {

// A module the adapters work without.
bool optional(const Config& config, const Operation& operation) {
  const auto* load = std::get_if<LoadModule>(&operation);
  return load != nullptr && load->module != kDriverModule && !is_required(config, load->module);
}

}  // namespace

const std::vector<Milliseconds>& gentle_pauses() {
  static const std::vector<Milliseconds> pauses{Milliseconds{0}, Milliseconds{2000},
                                                Milliseconds{10'000}, Milliseconds{60'000},
                                                Milliseconds{300'000}};
  return pauses;
}

bool is_required(const Config& config, const std::string& module) {
  const auto& names = config.modules.required;
  return module == kNetModule || std::find(names.begin(), names.end(), module) != names.end();
}

void try_within_budget(const Inputs& in, Draft& draft, Operation operation, std::string reason,
                       std::optional<std::string> adapter) {
  const Allowance budget =
      allowance(in.snapshot.ledger, {verb(operation)}, target(operation), gentle_pauses(),
                in.history.fresh_start, in.now, Success::CountsWhileRecent);
  if (budget.last != nullptr && budget.last->finished && !worked(*budget.last))
    draft.find(findings::attempt_failed(*budget.last, adapter));
  switch (budget.verdict) {
    case Allowance::Verdict::Now:
      draft.act(std::move(operation), std::move(reason));
      break;
    case Allowance::Verdict::Later:
      draft.look_by(budget.when);
      break;
    case Allowance::Verdict::GiveUp:
      draft.find(findings::giving_up(describe(operation), budget.tries,
                                     optional(in.config, operation), std::move(adapter)));
      break;
  }
}

}  // namespace pvrdma
