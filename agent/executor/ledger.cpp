// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/executor/ledger.hpp"

#include <cerrno>
#include <utility>

#include "agent/base/file.hpp"
#include "agent/codec/ledger_file.hpp"
#include "agent/model/attempt.hpp"

namespace pvrdma::executor {

namespace {

Attempt attempt_of(const Operation& operation, BootTime started) {
  Attempt attempt;
  attempt.verb = verb(operation);
  attempt.target = target(operation);
  attempt.started = started;
  return attempt;
}

void finish(Attempt& attempt, const OperationResult& result, BootTime now) {
  attempt.finished = now;
  attempt.outcome = result.outcome;
  attempt.detail = result.detail;
}

}  // namespace

LedgerWriter::LedgerWriter(std::filesystem::path path, BootTime now) : path_(std::move(path)) {
  auto read = codec::read_ledger(path_);
  if (!read) {
    understood_ = false;
    state_ = fail(std::move(read.error()));
    return;
  }
  ledger_ = std::move(*read);
  for (Attempt& attempt : ledger_.attempts)
    if (!attempt.finished) finish(attempt, {Outcome::Failed, kCutShort, 0, {}}, now);
  write();
}

std::optional<OperationResult> LedgerWriter::begin(const Operation& operation, Caller caller,
                                                   BootTime now) {
  if (const auto until = limited_until(ledger_, operation, now); until && caller != Caller::Root) {
    OperationResult result{
        Outcome::NotAllowed,
        "it has been done as often as is allowed within ten minutes; the next is due in " +
            in_seconds(*until - now) + " s",
        EBUSY,
        {}};
    refuse(operation, result, now);
    return result;
  }
  add(ledger_, attempt_of(operation, now));
  write();
  if (state_ || !takes_driver_away(operation)) return std::nullopt;
  OperationResult result{Outcome::NotAllowed,
                         "it could not be counted: " + state_.error().message(),
                         state_.error().code,
                         {}};
  end(result, now);
  return result;
}

void LedgerWriter::end(const OperationResult& result, BootTime now) {
  auto& attempts = ledger_.attempts;
  if (attempts.empty() || attempts.back().finished) return;
  Attempt ended = std::move(attempts.back());
  attempts.pop_back();
  finish(ended, result, now);
  if (result.driver_taken) ++(ended.verb == Verb::ReloadDriver ? ledger_.reloads : ledger_.rebinds);
  add(ledger_, std::move(ended));
  write();
}

bool LedgerWriter::refuse(const Operation& operation, const OperationResult& result, BootTime now) {
  Attempt attempt = attempt_of(operation, now);
  finish(attempt, result, now);
  const bool repeated = repeats_refusal(ledger_, attempt);
  add(ledger_, std::move(attempt));
  write();
  return repeated;
}

void LedgerWriter::write() {
  if (understood_) state_ = replace_file(path_, codec::to_text(ledger_));
}

}  // namespace pvrdma::executor
