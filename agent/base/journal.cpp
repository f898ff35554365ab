// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/base/journal.hpp"

#include <cerrno>

#include "agent/base/format.hpp"
#include "agent/base/notify.hpp"

namespace pvrdma::log {

namespace {

int send_to(DatagramSender& sender, const std::string& socket, const JournalEntry& entry) {
  // The field that sd_journal_sendv(3) adds too; `journalctl -t` matches it.
  std::string content = formatted("SYSLOG_IDENTIFIER={}\n", program_invocation_short_name);
  for (const std::string& line : entry) content += line + '\n';
  return sender.send(socket, content);
}

int send_own(DatagramSender& sender, const std::string& socket, std::string_view message_id,
             const std::string& message, std::string_view name, std::uint64_t value) {
  return send_to(sender, socket,
                 {"MESSAGE=" + message, "PRIORITY=4", formatted("MESSAGE_ID={}", message_id),
                  formatted("{}={}", name, value)});
}

}  // namespace

void Journal::send(const JournalEntry& entry) {
  const std::lock_guard lock{mutex_};
  if (!told_dropped() || send_to(sender_, socket_, entry) != 0) ++dropped_;
}

void Journal::tell_dropped() {
  const std::lock_guard lock{mutex_};
  static_cast<void>(told_dropped());
}

bool Journal::told_dropped() {
  if (dropped_ == 0) return true;
  const int code =
      send_own(sender_, socket_, messages::kEntriesDropped,
               formatted("{} entries were dropped, as the journal did not take them", dropped_),
               "PVRDMA_DROPPED", dropped_);
  if (code == 0) dropped_ = 0;
  return code == 0;
}

}  // namespace pvrdma::log
