// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/plan/tried.hpp"

#include <algorithm>

namespace pvrdma {

namespace {

// How long an answer that is missing in the ledger counts as a fault of the ledger.
constexpr Milliseconds kHeldAgainst{60'000};

// Both processes use the same clock, and the executor starts an attempt after the agent's call. A
// refusal in the ledger may have replaced an older one.
bool is_in(const std::vector<Attempt>& list, const Attempt& answered) {
  return std::any_of(list.begin(), list.end(), [&](const Attempt& entry) {
    return entry.verb == answered.verb && entry.target == answered.target &&
           entry.started >= answered.started &&
           (entry.started <= end_of(answered) || is_refusal(answered));
  });
}

}  // namespace

void complete_ledger(Looked& look, const Tried& tried) {
  Snapshot& snapshot = look.snapshot;
  const Ledger known = snapshot.ledger;  // as it was read
  const auto complete = [&](std::vector<Attempt>& list, const std::vector<Attempt>& with,
                            bool is_written) {
    const std::size_t before = list.size();
    for (const Attempt& attempt : with) {
      if (is_in(known.attempts, attempt) || is_in(known.refusals, attempt)) continue;
      list.push_back(attempt);
      const bool was_there = look.began >= end_of(attempt);
      const bool recent = snapshot.taken_at - end_of(attempt) < kHeldAgainst;
      if (!is_written || snapshot.ledger_error || !was_there || !recent) continue;
      snapshot.ledger_error =
          Error{0, "looking in the executor's ledger for",
                describe(attempt.verb, attempt.target) + ", which is not there" +
                    (attempt.detail.empty() ? "" : " (" + attempt.detail + ")")};
    }
    if (list.size() == before) return;
    std::stable_sort(list.begin(), list.end(), [](const Attempt& left, const Attempt& right) {
      return left.started < right.started;
    });
  };
  complete(snapshot.ledger.attempts, tried.answered.attempts, true);
  complete(snapshot.ledger.attempts, tried.not_understood.attempts, false);
  complete(snapshot.ledger.refusals, tried.answered.refusals, true);
  snapshot.ledger.reloads = std::max(known.reloads, tried.answered.reloads);
  snapshot.ledger.rebinds = std::max(known.rebinds, tried.answered.rebinds);
}

}  // namespace pvrdma
