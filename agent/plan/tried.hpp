// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the executor's answers with its ledger. So a ledger that loses entries, on a full /run
// or otherwise, does not allow more attempts, and the loss is noticed.
#pragma once

#include "agent/model/attempt.hpp"
#include "agent/model/event.hpp"

namespace pvrdma {

// The executor's calls that this daemon has seen end.
struct Tried {
  // Calls with an answer: the executor's ledger must contain them.
  Ledger answered;
  // Calls that reached the executor but got no answer: it could not read the call, closed the
  // connection, or died. They count as failed attempts, but need not be in the ledger.
  Ledger not_understood;
};

// Adds to the look's ledger the entries of `tried` that are missing. Where an answer of the last
// minute was missing when the ledger was read, sets `ledger_error` if it is empty. After that
// minute the error ends, and the next operation shows whether entries are still lost.
void complete_ledger(Looked& look, const Tried& tried);

}  // namespace pvrdma
