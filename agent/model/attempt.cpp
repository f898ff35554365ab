// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/model/attempt.hpp"

#include <algorithm>
#include <utility>

namespace pvrdma {

namespace {

void shorten(std::string& text, std::size_t most) {
  if (text.size() > most) text = text.substr(0, most - 3) + "...";
}

void add_refusal(std::vector<Attempt>& refusals, Attempt refusal) {
  std::erase_if(refusals, [&](const Attempt& old) {
    return old.verb == refusal.verb && old.target == refusal.target &&
           old.outcome == refusal.outcome;
  });
  if (refusals.size() >= kRefusalsKept) refusals.erase(refusals.begin());
  refusals.push_back(std::move(refusal));
}

void add_attempt(std::vector<Attempt>& attempts, Attempt attempt) {
  const auto alike = [is = takes_driver_away(attempt.verb)](const Attempt& old) {
    return takes_driver_away(old.verb) == is;
  };
  const auto kept = std::count_if(attempts.begin(), attempts.end(), alike);
  if (static_cast<std::size_t>(kept) >= kAttemptsKept)
    attempts.erase(std::find_if(attempts.begin(), attempts.end(), alike));
  attempts.push_back(std::move(attempt));
}

}  // namespace

bool is_refusal(const Attempt& attempt) {
  return attempt.finished &&
         (attempt.outcome == Outcome::InUse || attempt.outcome == Outcome::NotAllowed);
}

void add(Ledger& ledger, Attempt attempt) {
  shorten(attempt.target, kTargetKept);
  shorten(attempt.detail, kDetailKept);
  if (is_refusal(attempt))
    add_refusal(ledger.refusals, std::move(attempt));
  else
    add_attempt(ledger.attempts, std::move(attempt));
}

}  // namespace pvrdma
