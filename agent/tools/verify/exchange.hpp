// SPDX-License-Identifier: GPL-2.0-or-later
// What the self-test does with its connection.
#pragma once

#include <optional>
#include <string>

#include "agent/tools/verify/completions.hpp"

namespace pvrdma::ctl::selftest {

// kMessageBytes there and back, waiting for completion events only; compared at both ends.
[[nodiscard]] Outcome<void> exchange_message(Endpoint& endpoint, Completions& completions);

// kRounds of kRoundBytes there and back, each with data of its own, compared.
[[nodiscard]] Outcome<std::vector<Nanoseconds>> exchange_rounds(Endpoint& endpoint,
                                                                Completions& completions);

// None: the write arrived, as is. Otherwise how the device showed that it offers no RDMA write. The
// connection may be of no use afterwards.
[[nodiscard]] Outcome<std::optional<std::string>> write_remotely(Endpoint& endpoint,
                                                                 Completions& completions);

}  // namespace pvrdma::ctl::selftest
