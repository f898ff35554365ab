// SPDX-License-Identifier: GPL-2.0-or-later
// The flight recorder: the last events of a daemon. step() (agent/plan/step.hpp) makes the same
// decisions from them again. So the recording of a machine that no developer can log in to can
// become a test.
//
// Bounded in events and in bytes. A snapshot is kept as a JSON Patch (RFC 6902) of the snapshot
// before; an event that is dropped is merged into the start and the base. Names in it are
// printable. It contains no secret: everything in it is in health or configuration too.
#pragma once

#include <cstddef>
#include <string>

#include "agent/codec/json.hpp"
#include "agent/model/event.hpp"

namespace pvrdma::codec {

inline constexpr int kRecordingVersion = 1;
// The member of a look that holds the patch.
inline constexpr const char* kChanges = "changes";

inline constexpr std::size_t kEventsKept = 256;
inline constexpr std::size_t kRecordingBytes = 256U << 10U;

class Recorder {
 public:
  explicit Recorder(const Start& start, std::size_t bytes_at_most = kRecordingBytes);

  void add(const Event& event, BootTime now);
  // The document as JSON text.
  [[nodiscard]] std::string text() const;
  // Size of the kept data in bytes.
  [[nodiscard]] std::size_t bytes() const { return base_.size() + events_.size(); }

 private:
  [[nodiscard]] std::string text_of(const Looked& looked, BootTime now);
  void drop_first();

  std::size_t bytes_at_most_;
  Json start_;
  Snapshot last_;     // the newest; as constructed: there was none
  std::string base_;  // the snapshot before the first event, as JSON text; its time is 0: none
  // Each event is JSON text on a line, the oldest first. This is one block of memory: a block for
  // each event would lie between those of looks and clients, and keep their pages from the kernel.
  std::string events_;
  std::size_t count_ = 0;
  std::size_t dropped_ = 0;
};

}  // namespace pvrdma::codec
