// SPDX-License-Identifier: GPL-2.0-or-later
// Events <-> JSON, for recordings. Both ways lose nothing except unprintable characters.
#pragma once

#include <string>

#include "agent/base/error.hpp"
#include "agent/codec/json.hpp"
#include "agent/model/event.hpp"

namespace pvrdma::codec {

// {"kind": "looked", …}
[[nodiscard]] Json to_json(const Event& event);
[[nodiscard]] Json to_json(const Snapshot& snapshot);
[[nodiscard]] Json to_json(const Start& start);

// EBADMSG names the invalid member.
[[nodiscard]] Result<Event> event_from(const Json& json);
[[nodiscard]] Result<Snapshot> snapshot_from(const Json& json);
[[nodiscard]] Result<Start> start_from(const Json& json);

}  // namespace pvrdma::codec
