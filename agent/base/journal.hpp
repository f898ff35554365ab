// SPDX-License-Identifier: GPL-2.0-or-later
// Entries for the systemd journal, in its native protocol (systemd's docs/JOURNAL_NATIVE_PROTOCOL),
// which libsystemd speaks as well, but waits where journald does not read: a journald that is
// stopped, or swapped out, would stop the agent's loop and the executor with it.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pvrdma {

namespace messages {
// Of the entry that tells how many were dropped; the others are in agent/model/messages.hpp.
inline constexpr std::string_view kEntriesDropped = "268bd17e7ee2406cb33f35edc24252ce";
}  // namespace messages

namespace log {

// What an entry is made of: "MESSAGE=…", "PRIORITY=4", …, each without a line end and all together
// far below a datagram's 200 KiB.
using JournalEntry = std::vector<std::string>;

class Journal {
 public:
  explicit Journal(std::string socket = "/run/systemd/journal/socket")
      : socket_(std::move(socket)) {}

  // Never waits. What the journal does not take is dropped and counted; the first entry that it
  // takes again is preceded by one that tells how many. Any thread may send.
  void send(const JournalEntry& entry);
  // Tells of those that were dropped, if the journal takes entries again: for a program that has
  // nothing else to say.
  void tell_dropped();

 private:
  // False: the journal does not take entries yet. With the mutex held.
  [[nodiscard]] bool told_dropped();
  std::mutex mutex_;
  std::string socket_;
  std::uint64_t dropped_ = 0;
};

}  // namespace log

}  // namespace pvrdma
