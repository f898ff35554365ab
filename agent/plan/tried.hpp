// SPDX-License-Identifier: GPL-2.0-or-later
// What the executor was asked for, held against its ledger: a ledger that loses entries, on a full
// /run or by any other way, does not allow more attempts, and its loss is noticed.
#pragma once

#include "agent/model/attempt.hpp"
#include "agent/model/event.hpp"

namespace pvrdma {

// What this daemon has seen of the executor's work.
struct Tried {
  // What was answered: the executor's ledger is to say the same.
  Ledger answered;
  // What reached the executor but was not answered as asked: it could not read it, hung up on it or
  // died of it. Tried in vain all the same, though its ledger need not know of it.
  Ledger not_understood;
};

// Adds to the look's ledger what it lacks of `tried`. Where one of the answers of the last minute
// was not in the ledger when it was read, that is its `ledger_error`, if it has none yet; after
// that minute whatever is planned next shows whether it is so still.
void complete_ledger(Looked& look, const Tried& tried);

}  // namespace pvrdma
