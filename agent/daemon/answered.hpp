// What the executor has answered, held against its ledger: a ledger that loses entries, on a full
// /run or by any other way, does not allow more attempts, and its loss is noticed.
#pragma once

#include "agent/daemon/observer.hpp"
#include "agent/model/attempt.hpp"

namespace pvrdma {

// Adds to the look's ledger what it lacks of `answered`. Where an answer of the last minute was not
// in the ledger when it was read, that is its `ledger_error`, if it has none yet; after that minute
// whatever is planned next shows whether it is so still.
void complete_ledger(Look& look, const Ledger& answered);

}  // namespace pvrdma
