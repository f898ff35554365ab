// SPDX-License-Identifier: GPL-2.0-or-later
// The executor's ledger under /run (agent/model/attempt.hpp): JSON text and back.
#pragma once

#include <filesystem>
#include <string>

#include "agent/base/error.hpp"
#include "agent/model/attempt.hpp"

namespace pvrdma::codec {

inline constexpr const char* kLedgerPath = "/run/pvrdma-agent-executor/ledger.json";

// A ledger bounded by add() can always be read again: kReadLimitBytes is twice its largest size.
[[nodiscard]] std::string to_text(const Ledger& ledger);
// EBADMSG: the text is no such document.
[[nodiscard]] Result<Ledger> ledger_from(const std::string& text);

// A missing file gives an empty ledger: nothing was tried in this boot.
[[nodiscard]] Result<Ledger> read_ledger(const std::filesystem::path& path = kLedgerPath);

}  // namespace pvrdma::codec
