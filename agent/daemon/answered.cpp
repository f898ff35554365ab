#include "agent/daemon/answered.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace pvrdma {

namespace {

constexpr Milliseconds kHeldAgainst{60'000};

BootTime end_of(const Attempt& attempt) { return attempt.finished.value_or(attempt.started); }

// By the same clock: the executor began after it was asked. A refusal may stand for an older one.
bool is_in(const std::vector<Attempt>& list, const Attempt& answered) {
  return std::any_of(list.begin(), list.end(), [&](const Attempt& entry) {
    return entry.verb == answered.verb && entry.target == answered.target &&
           entry.started >= answered.started &&
           (entry.started <= end_of(answered) || is_refusal(answered));
  });
}

class Completion {
 public:
  explicit Completion(Look& look) : look_(look), known_(look.snapshot.ledger) {}

  void add(const std::vector<Attempt>& answered, std::vector<Attempt>& into) {
    const std::size_t before = into.size();
    for (const Attempt& attempt : answered) {
      if (is_in(known_.attempts, attempt) || is_in(known_.refusals, attempt)) continue;
      into.push_back(attempt);
      note_loss(attempt);
    }
    if (into.size() > before)
      std::stable_sort(into.begin(), into.end(), [](const Attempt& left, const Attempt& right) {
        return left.started < right.started;
      });
  }

 private:
  void note_loss(const Attempt& lacking) {
    Snapshot& snapshot = look_.snapshot;
    const bool was_there = look_.started >= end_of(lacking);
    const bool recent = snapshot.taken_at - end_of(lacking) < kHeldAgainst;
    if (snapshot.ledger_error || !was_there || !recent) return;
    snapshot.ledger_error = Error{0, "looking in the executor's ledger for",
                                  describe(lacking.verb, lacking.target) + ", which is not there" +
                                      (lacking.detail.empty() ? "" : " (" + lacking.detail + ")")};
  }

  Look& look_;
  Ledger known_;  // as it was read
};

}  // namespace

void complete_ledger(Look& look, const Ledger& answered) {
  Completion completion{look};
  Ledger& ledger = look.snapshot.ledger;
  completion.add(answered.attempts, ledger.attempts);
  completion.add(answered.refusals, ledger.refusals);
  ledger.reloads = std::max(ledger.reloads, answered.reloads);
  ledger.rebinds = std::max(ledger.rebinds, answered.rebinds);
}

}  // namespace pvrdma
