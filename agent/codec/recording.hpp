// SPDX-License-Identifier: GPL-2.0-or-later
// The flight recorder: the last events of a daemon. step() (agent/plan/step.hpp) makes the same
// decisions from them again. So the recording of a machine that no developer can log in to can
// become a test.
//
// Bounded in events and in bytes. For each snapshot only the members that differ from the snapshot
// before are kept; an entry that is dropped is merged into the base. Names in it are printable. It
// contains no secret: everything in it is in health or configuration too.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/codec/json.hpp"
#include "agent/model/event.hpp"

namespace pvrdma::codec {

inline constexpr std::size_t kEventsKept = 256;
inline constexpr std::size_t kRecordingBytes = 256U << 10U;

class Recorder {
 public:
  explicit Recorder(const Start& start, std::size_t bytes_at_most = kRecordingBytes);

  void add(const Event& event, BootTime now);
  // The document as JSON text.
  [[nodiscard]] std::string text() const;
  // Size of the kept data in bytes.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  // Name and JSON text of a snapshot's members.
  using Members = std::map<std::string, std::string>;
  struct Entry {
    std::string head;    // the event as JSON text, without the closing brace
    Members changed;     // members of a snapshot, in the order of their names
    std::string config;  // the configuration that this event brought; empty: none
    [[nodiscard]] std::size_t bytes() const;
  };
  [[nodiscard]] Entry entry_of(const Looked& looked, BootTime now);
  [[nodiscard]] static std::size_t bytes_of(const Members& members);
  void drop_first();

  std::size_t bytes_at_most_;
  Json start_;
  Members base_;  // the snapshot before the first entry; empty: there was none
  Members last_;  // the newest snapshot
  std::deque<Entry> entries_;
  std::size_t dropped_ = 0;
  std::size_t bytes_ = 0;  // of the entries and of base_
};

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

}  // namespace pvrdma::codec
