// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/model/attempt.hpp"

#include <algorithm>
#include <utility>

#include "agent/base/text.hpp"

namespace pvrdma {

namespace {

void shorten(std::string& text, std::size_t most) {
  if (text.size() > most) text = text.substr(0, most - 3) + "...";
}

void shorten(Attempt& attempt) {
  shorten(attempt.target, kTargetKept);
  shorten(attempt.detail, kDetailKept);
}

bool are_alike(const Attempt& left, const Attempt& right) {
  return left.verb == right.verb && left.target == right.target && left.outcome == right.outcome;
}

void add_refusal(std::vector<Attempt>& refusals, Attempt refusal) {
  const auto alike = [&](const Attempt& old) { return are_alike(old, refusal); };
  const auto kept = std::count_if(refusals.begin(), refusals.end(), alike);
  const std::size_t most = refusal.outcome == Outcome::NotAllowed ? kRefusalsInARow : 1;
  if (static_cast<std::size_t>(kept) >= most)
    refusals.erase(std::find_if(refusals.begin(), refusals.end(), alike));
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

// The pause after "in use" or the guard's first refusal: short enough that no person waits for it.
constexpr Milliseconds kRefusedPause{5000};
// The pause doubles with each refusal by the guard, so that the executor can exit in between.
Milliseconds pause_after(std::size_t refusals_in_a_row) {
  Milliseconds pause = kRefusedPause;
  for (std::size_t i = 1; i < refusals_in_a_row; ++i) pause = std::min(2 * pause, kSlowRetry);
  return pause;
}
// A success that is undone within this time counts as a failure: another program works against us,
// or the kernel did not do it. A success that is undone later is a new case, whatever failed before
// it.
constexpr Milliseconds kRecent{10'000};
// A refused operation is requested again after its pause. A refusal that is much older belongs to
// an earlier need for that operation, so it no longer counts.
constexpr Milliseconds kStillRefused{25'000};
constexpr Milliseconds kSameRow = kSlowRetry + kStillRefused;

// The attempts of a list with one of these verbs and this target (empty: any) that are not
// forgiven.
std::vector<const Attempt*> of(const std::vector<Attempt>& list, const std::vector<Verb>& verbs,
                               const std::string& target, BootTime fresh_start) {
  std::vector<const Attempt*> found;
  for (const Attempt& attempt : list)
    if (contains(verbs, attempt.verb) && (target.empty() || attempt.target == target) &&
        end_of(attempt) >= fresh_start)
      found.push_back(&attempt);
  return found;
}

// Whether the state that a success brought about lasted for longer than the pause before the next
// try, which came at `next`. `before`: what counted before this success.
bool lasted(const Allowance& before, const Attempt& success, std::span<const Milliseconds> pauses,
            BootTime next) {
  const bool is_last_allowed = before.tries + 1 == pauses.size();
  // No pause follows the last allowed try, so the time since that try proves nothing.
  if (is_last_allowed && before.last != nullptr && worked(*before.last)) return false;
  const Milliseconds pause = before.tries >= pauses.size()
                                 ? kSlowRetry
                                 : pauses[is_last_allowed ? before.tries : before.tries + 1];
  return end_of(success) + kRecent + pause < next;
}

}  // namespace

bool is_refusal(const Attempt& attempt) {
  return attempt.finished &&
         (attempt.outcome == Outcome::InUse || attempt.outcome == Outcome::NotAllowed);
}

bool repeats_refusal(const Ledger& ledger, Attempt refusal) {
  shorten(refusal);
  return std::ranges::any_of(ledger.refusals, [&](const Attempt& old) {
    return are_alike(old, refusal) && old.detail == refusal.detail &&
           end_of(old) + kSameRow > end_of(refusal);
  });
}

void add(Ledger& ledger, Attempt attempt) {
  shorten(attempt);
  if (is_refusal(attempt))
    add_refusal(ledger.refusals, std::move(attempt));
  else
    add_attempt(ledger.attempts, std::move(attempt));
}

bool worked(const Attempt& attempt) {
  return attempt.finished &&
         (attempt.outcome == Outcome::Done || attempt.outcome == Outcome::AlreadyDone);
}

const Attempt* Allowance::failure() const {
  return last != nullptr && last->finished && !worked(*last) ? last : nullptr;
}

Allowance allowance(const Ledger& ledger, const std::vector<Verb>& verbs, const std::string& target,
                    std::span<const Milliseconds> pauses, BootTime fresh_start, BootTime now,
                    std::optional<BootTime> watched_from) {
  Allowance result;
  BootTime earliest{};
  const auto attempts = of(ledger.attempts, verbs, target, fresh_start);
  std::size_t in_a_row = 0;
  BootTime before{};
  for (const Attempt* refusal : of(ledger.refusals, verbs, target, fresh_start)) {
    if (!attempts.empty() && attempts.back()->started >= refusal->started) continue;
    const bool by_guard = refusal->outcome == Outcome::NotAllowed;
    if (!by_guard || before + kSameRow < refusal->started) in_a_row = 0;
    if (by_guard) ++in_a_row;
    before = end_of(*refusal);
    earliest = end_of(*refusal) + pause_after(in_a_row);
    result.refused = by_guard && earliest + kStillRefused > now ? refusal : nullptr;
  }
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const Attempt* attempt = attempts[i];
    if (worked(*attempt) && watched_from) {
      const bool watched = end_of(*attempt) >= *watched_from;
      if (!watched && end_of(*attempt) + kRecent < now) continue;
      const BootTime next = i + 1 < attempts.size() ? attempts[i + 1]->started : now;
      if (watched && lasted(result, *attempt, pauses, next)) {
        result.tries = 0;
        result.last = nullptr;
        continue;
      }
    }
    ++result.tries;
    result.last = attempt;
  }
  if (result.tries >= pauses.size()) {
    result.verdict = Allowance::Verdict::GiveUp;
    return result;
  }
  if (result.last != nullptr)
    earliest = std::max(earliest, end_of(*result.last) + pauses[result.tries]);
  if (earliest > now) {
    result.verdict = Allowance::Verdict::Later;
    result.when = earliest;
  }
  return result;
}

std::optional<BootTime> limited_until(const Ledger& ledger, const Operation& operation,
                                      BootTime now) {
  if (!takes_driver_away(operation)) return std::nullopt;
  const auto counted =
      of(ledger.attempts, {Verb::ReloadDriver, Verb::RebindFunction}, {}, now - kReloadWindow);
  if (counted.size() < kMostReloads) return std::nullopt;
  return end_of(*counted[counted.size() - kMostReloads]) + kReloadWindow + Milliseconds{1};
}

}  // namespace pvrdma
