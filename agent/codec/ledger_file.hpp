// SPDX-License-Identifier: GPL-2.0-or-later
// The executor's ledger under /run (agent/model/attempt.hpp): JSON text and back.
#pragma once

#include <filesystem>
#include <string>

#include "agent/base/error.hpp"
#include "agent/model/attempt.hpp"

namespace pvrdma::codec {

inline constexpr const char* kLedgerPath = "/run/pvrdma-agent-executor/ledger.json";

// Whatever add() has kept is read again: kReadLimitBytes is twice what it can come to.
[[nodiscard]] std::string to_text(const Ledger& ledger);
// EBADMSG: not such a document.
[[nodiscard]] Result<Ledger> ledger_from(const std::string& text);

// A file that is not there is an empty ledger: nothing was tried in this boot.
[[nodiscard]] Result<Ledger> read_ledger(const std::filesystem::path& path = kLedgerPath);

}  // namespace pvrdma::codec
