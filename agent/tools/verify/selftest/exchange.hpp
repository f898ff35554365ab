// SPDX-License-Identifier: GPL-2.0-or-later
// The transfers of the self-test over its connection.
#pragma once

#include <optional>
#include <string>

#include "agent/tools/verify/selftest/completions.hpp"

namespace pvrdma::ctl::selftest {

// Sends kMessageBytes there and back, waits only for completion events, and compares at both ends.
[[nodiscard]] Stepped<void> exchange_message(Endpoint& endpoint, Completions& completions);

// Sends kRounds of kRoundBytes there and back, each with its own data, and compares.
[[nodiscard]] Stepped<std::vector<Nanoseconds>> exchange_rounds(Endpoint& endpoint,
                                                                Completions& completions);

// None: the written data arrived unchanged. Otherwise the reason why the device offers no RDMA
// write. The connection may be unusable afterwards.
[[nodiscard]] Stepped<std::optional<std::string>> write_remotely(Endpoint& endpoint,
                                                                 Completions& completions);

}  // namespace pvrdma::ctl::selftest
