#include "agent/executor/ledger.hpp"

#include <algorithm>

#include "agent/base/file.hpp"
#include "agent/varlink/ledger_file.hpp"

namespace pvrdma::executor {

namespace {

Attempt attempt_of(const Operation& operation, BootTime started) {
  Attempt attempt;
  attempt.verb = verb(operation);
  attempt.target = target(operation);
  attempt.started = started;
  return attempt;
}

void finish(Attempt& attempt, const Report& report, BootTime now) {
  attempt.finished = now;
  attempt.outcome = report.outcome;
  attempt.detail = report.detail;
}

}  // namespace

LedgerWriter::LedgerWriter(std::filesystem::path path, BootTime now) : path_(std::move(path)) {
  auto read = varlink::read_ledger(path_);
  if (!read) {
    understood_ = false;
    state_ = fail(std::move(read.error()));
    return;
  }
  ledger_ = std::move(*read);
  for (Attempt& attempt : ledger_.attempts)
    if (!attempt.finished)
      finish(attempt, {Outcome::Failed, "the executor ended during it", 0, {}}, now);
  write();
}

void LedgerWriter::begin(const Operation& operation, BootTime now) {
  ledger_.attempts.push_back(attempt_of(operation, now));
  write();
}

void LedgerWriter::end(const Report& report, BootTime now) {
  if (ledger_.attempts.empty() || ledger_.attempts.back().finished) return;
  finish(ledger_.attempts.back(), report, now);
  write();
}

void LedgerWriter::refuse(const Operation& operation, const Report& report, BootTime now) {
  Attempt attempt = attempt_of(operation, now);
  finish(attempt, report, now);
  auto& attempts = ledger_.attempts;
  attempts.erase(std::remove_if(attempts.begin(), attempts.end(),
                                [&](const Attempt& old) {
                                  return old.finished && old.verb == attempt.verb &&
                                         old.target == attempt.target &&
                                         old.outcome == attempt.outcome;
                                }),
                 attempts.end());
  attempts.push_back(std::move(attempt));
  write();
}

void LedgerWriter::write() {
  auto& attempts = ledger_.attempts;
  if (attempts.size() > kKept)
    attempts.erase(attempts.begin(),
                   attempts.end() - static_cast<std::vector<Attempt>::difference_type>(kKept));
  if (understood_) state_ = replace_file(path_, varlink::to_text(ledger_));
}

}  // namespace pvrdma::executor
