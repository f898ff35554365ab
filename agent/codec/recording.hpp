// SPDX-License-Identifier: GPL-2.0-or-later
// The flight recorder: the last events of a daemon, from which its decisions follow again
// (agent/plan/step.hpp). A support case from a machine that no developer can log in to becomes a
// test by copying the recording.
//
// Bounded in events and in bytes. Of a snapshot only the members are kept that differ from the
// snapshot before, and what leaves at the front goes into what the recording begins with. Names in
// it are printable, and it holds no secret: what it says, health and configuration say as well.
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
  // The document, as JSON text.
  [[nodiscard]] std::string text() const;
  // What is kept, in bytes.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  // Name and JSON text of a snapshot's members.
  using Members = std::map<std::string, std::string>;
  struct Entry {
    std::string head;    // of the event: JSON text without its end
    Members changed;     // of a snapshot, in the order of their names
    std::string config;  // the one that was taken over with it; empty: none
    [[nodiscard]] std::size_t bytes() const;
  };
  [[nodiscard]] Entry entry_of(const Looked& looked, BootTime now);
  [[nodiscard]] static std::size_t bytes_of(const Members& members);
  void drop_first();

  std::size_t bytes_at_most_;
  Json start_;
  Members base_;  // the snapshot before the first entry; empty: there was none
  Members last_;  // the newest one
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
  std::optional<Snapshot> base;  // what was seen before the first event; none: it is the beginning
  std::size_t dropped = 0;       // events before the first that were not kept
  std::vector<RecordedEvent> events;
};
// EBADMSG: not such a document, with the place.
[[nodiscard]] Result<Recording> recording_from(const std::string& text);

}  // namespace pvrdma::codec
