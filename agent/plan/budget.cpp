#include "agent/plan/budget.hpp"

#include <algorithm>

namespace pvrdma {

namespace {

// After "in use" or a refusal by the guard: soon enough that nobody waits, slow enough to be quiet.
constexpr Milliseconds kRefusedPause{5000};
// Whoever undoes what we did within this time is being fought with; later is a new story.
constexpr Milliseconds kRecent{10'000};

}  // namespace

bool worked(const Attempt& attempt) {
  return attempt.finished &&
         (attempt.outcome == Outcome::Done || attempt.outcome == Outcome::AlreadyDone);
}

Allowance allowance(const Ledger& ledger, const std::vector<std::string>& verbs,
                    const std::string& target, const std::vector<Milliseconds>& pauses,
                    BootTime fresh_start, BootTime now, Success success) {
  Allowance result;
  BootTime earliest{};
  for (const Attempt& attempt : ledger.attempts) {
    if (std::find(verbs.begin(), verbs.end(), attempt.verb) == verbs.end()) continue;
    if (!target.empty() && attempt.target != target) continue;
    const BootTime ended = attempt.finished.value_or(attempt.started);
    if (ended < fresh_start) continue;
    if (attempt.finished &&
        (attempt.outcome == Outcome::InUse || attempt.outcome == Outcome::NotAllowed)) {
      earliest = std::max(earliest, ended + kRefusedPause);
      continue;
    }
    if (worked(attempt) && success == Success::CountsWhileRecent && ended + kRecent < now) continue;
    ++result.tries;
    result.last = &attempt;
  }
  if (result.tries >= pauses.size()) {
    result.verdict = Allowance::Verdict::GiveUp;
    return result;
  }
  if (result.last != nullptr) {
    const BootTime ended = result.last->finished.value_or(result.last->started);
    earliest = std::max(earliest, ended + pauses[result.tries]);
  }
  if (earliest > now) {
    result.verdict = Allowance::Verdict::Later;
    result.when = earliest;
  }
  return result;
}

}  // namespace pvrdma
