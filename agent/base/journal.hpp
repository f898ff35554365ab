// The log: structured entries to the systemd journal, or lines to stderr where no journal listens.
//
// Only the top of a program logs (its main loop); everything below returns. Entries that an
// administrator may search for carry a MESSAGE_ID (journalctl MESSAGE_ID=…). What is logged is one
// printable line of bounded length, whatever the names in it are made of.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pvrdma::journal {

// syslog(3) priorities
enum class Priority { Error = 3, Warning = 4, Notice = 5, Info = 6, Debug = 7 };

// A journal field beside the message, for machines: {"PVRDMA_ADAPTER", "0000:13:00.1"}.
using FieldPair = std::pair<std::string_view, std::string_view>;

// `message_id` is 32 hexadecimal digits, or empty.
void log(Priority priority, std::string_view message_id, const std::string& message,
         std::initializer_list<FieldPair> fields = {});

// What log() sends to the journal: "MESSAGE=…", "PRIORITY=4", …
[[nodiscard]] std::vector<std::string> entry(Priority priority, std::string_view message_id,
                                             std::string_view message,
                                             std::initializer_list<FieldPair> fields);

}  // namespace pvrdma::journal
