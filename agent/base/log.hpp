// SPDX-License-Identifier: GPL-2.0-or-later
// The log: spdlog with one sink. The sink sends structured entries to the systemd journal if stderr
// is connected to it, else lines to stderr. Any thread may log, and none waits for the journal:
// entries that it does not take are dropped and counted, and the count is logged later
// (journal.hpp).
//
// Only the top of a program (its main loop) logs; lower layers return Errors. Entries that an
// administrator may search for have a MESSAGE_ID (journalctl MESSAGE_ID=…). Each entry is one
// printable line of bounded length, whatever bytes the names in it contain.
#pragma once

#include <fmt/core.h>

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/base/error.hpp"

namespace pvrdma::log {

// The numbers of syslog(3), which are an entry's PRIORITY. spdlog has no level between info and
// warn, so the levels are filtered here.
enum class Level { Error = 3, Warning = 4, Notice = 5, Info = 6, Debug = 7 };

// From now on logs the level `least` and more important ones; Info before the first call.
void set_level(Level least);
[[nodiscard]] bool wants(Level level);

// Sets the level of `--log-level LEVEL` ("error", "warning", "notice", "info", "debug") in a
// command line, and returns the other arguments. The Error says what is wrong with the option, and
// what is allowed.
[[nodiscard]] Result<std::vector<std::string_view>> take_log_level(int argc,
                                                                   const char* const* argv);

// A journal field beside the message, for machines: {"PVRDMA_ADAPTER", "0000:13:00.1"}.
// A field with an empty value is left out.
using FieldPair = std::pair<std::string_view, std::string_view>;

// `message_id` is 32 hexadecimal digits, or empty.
void event(Level level, std::string_view message_id, std::string_view message,
           std::initializer_list<FieldPair> fields = {});

// Logs the count of dropped entries, if there are any and the journal takes entries again. The next
// entry does so too; this is for a program that may log nothing for a long time.
void tell_dropped();

void write(Level level, fmt::string_view format, fmt::format_args arguments);

// log::info("{} files", count): without MESSAGE_ID and fields; formatted only if the level is
// logged. The compiler checks the format.
template <Level kLevel>
struct Writer {
  template <typename... Args>
  void operator()(fmt::format_string<Args...> format, const Args&... args) const {
    write(kLevel, format, fmt::make_format_args(args...));
  }
};
inline constexpr Writer<Level::Error> error{};
inline constexpr Writer<Level::Warning> warning{};
inline constexpr Writer<Level::Notice> notice{};
inline constexpr Writer<Level::Info> info{};
inline constexpr Writer<Level::Debug> debug{};

}  // namespace pvrdma::log
