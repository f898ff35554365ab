// SPDX-License-Identifier: GPL-2.0-or-later
// Reads what codec::Recorder writes: no event loses anything except unprintable characters.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/codec/json.hpp"
#include "agent/model/event.hpp"

namespace pvrdma::test {

struct RecordedEvent {
  BootTime at;
  Event event;
};
struct Recording {
  Start start;
  std::optional<Snapshot> base;  // the snapshot before the first event; none: there was none
  std::size_t dropped = 0;       // how many earlier events were not kept
  std::vector<RecordedEvent> events;
};

// EBADMSG names the invalid place in the document.
[[nodiscard]] Result<Recording> recording_from(const std::string& text);
[[nodiscard]] Result<Event> event_from(const codec::Json& json);

}  // namespace pvrdma::test
