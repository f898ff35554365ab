// SPDX-License-Identifier: GPL-2.0-or-later
// Entries for the systemd journal, in its native protocol (systemd's docs/JOURNAL_NATIVE_PROTOCOL).
// libsystemd is not used for this, as it waits while journald does not read: a journald that is
// stopped or swapped out would stop the agent's loop and the executor.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/base/notify.hpp"

namespace pvrdma {

namespace messages {
// MESSAGE_ID of the entry about dropped entries; the other ids are in agent/model/messages.hpp.
inline constexpr std::string_view kEntriesDropped = "268bd17e7ee2406cb33f35edc24252ce";
}  // namespace messages

namespace log {

// The fields of an entry: "MESSAGE=…", "PRIORITY=4", …. No field contains a line end, and all
// together are far below a datagram's 200 KiB.
using JournalEntry = std::vector<std::string>;

class Journal {
 public:
  explicit Journal(std::string socket = "/run/systemd/journal/socket")
      : socket_(std::move(socket)) {}

  // Never waits. An entry that the journal does not take is dropped and counted. Before the next
  // entry that it takes, an entry with the count is sent. Any thread may send.
  void send(const JournalEntry& entry);
  // Sends the count of dropped entries, if the journal takes entries again. For a program that may
  // log nothing else for a long time.
  void tell_dropped();

 private:
  // False: the journal does not take entries yet. The mutex must be held.
  [[nodiscard]] bool told_dropped();
  std::mutex mutex_;
  std::string socket_;
  DatagramSender sender_;
  std::uint64_t dropped_ = 0;
};

}  // namespace log

}  // namespace pvrdma
