// SPDX-License-Identifier: GPL-2.0-or-later
// The log: spdlog with one sink, which sends structured entries to the systemd journal, or lines to
// stderr where the journal does not listen there. Any thread may log, and none waits for the
// journal: what it does not take is dropped, counted, and told of once it does (journal.hpp).
//
// Only the top of a program logs (its main loop); everything below returns. Entries that an
// administrator may search for carry a MESSAGE_ID (journalctl MESSAGE_ID=…). What is logged is one
// printable line of bounded length, whatever the names in it are made of.
#pragma once

#include <fmt/core.h>

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/base/error.hpp"

namespace pvrdma::log {

// syslog(3)'s numbers: an entry's PRIORITY. spdlog has nothing between info and warn; which levels
// are logged is therefore decided here.
enum class Level { Error = 3, Warning = 4, Notice = 5, Info = 6, Debug = 7 };

// Logs `least` and what is more important; before that Info.
void set_level(Level least);
[[nodiscard]] bool wants(Level level);

// The words of a command line after the program's name. `--log-level LEVEL` ("error", "warning",
// "notice", "info", "debug") is taken out of them and set. The Error says what is wrong with it,
// and what is allowed.
[[nodiscard]] Result<std::vector<std::string_view>> take_log_level(int argc,
                                                                   const char* const* argv);

// A journal field beside the message, for machines: {"PVRDMA_ADAPTER", "0000:13:00.1"}.
// One without a value is left out.
using FieldPair = std::pair<std::string_view, std::string_view>;

// `message_id` is 32 hexadecimal digits, or empty.
void event(Level level, std::string_view message_id, std::string_view message,
           std::initializer_list<FieldPair> fields = {});

// Tells of entries that were dropped, if there were any and the journal takes entries again, as the
// next entry would. For a program that may have nothing else to say for a long time.
void tell_dropped();

void write(Level level, fmt::string_view format, fmt::format_args arguments);

// log::info("{} files", count): without MESSAGE_ID and fields; put together only where the level is
// wanted. The format is checked while compiling.
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
