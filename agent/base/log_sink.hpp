// SPDX-License-Identifier: GPL-2.0-or-later
// Where the log goes: spdlog's side of it, for log.cpp, and for tests that attach a sink of their
// own to logger(). No other file includes spdlog, which takes long to compile.
#pragma once

// Compiled into what includes this, and so not a library of its own: see format.hpp.
#undef SPDLOG_COMPILED_LIB
#define FMT_HEADER_ONLY
#include <spdlog/logger.h>
#include <spdlog/sinks/sink.h>
#include <sys/stat.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/base/journal.hpp"
#include "agent/base/log.hpp"

namespace pvrdma::log {

// The one logger. Its sinks are to be changed while no other thread logs.
[[nodiscard]] spdlog::logger& logger();

// spdlog's own sinks bring its patterns along, which nobody here sets, with all that formats them.
class PlainSink : public spdlog::sinks::sink {
 public:
  void flush() override {}
  void set_pattern(const std::string& /*pattern*/) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter> /*formatter*/) override {}
};

// Hands each message with its priority, MESSAGE_ID and fields to `send`, which any thread may call.
class JournalSink final : public PlainSink {
 public:
  explicit JournalSink(std::function<void(JournalEntry)> send) : send_(std::move(send)) {}
  void log(const spdlog::details::log_msg& message) override;

 private:
  std::function<void(JournalEntry)> send_;
};

// Writes each message as a line, in one write(2), so that lines of several threads do not mix.
class LineSink final : public PlainSink {
 public:
  explicit LineSink(int fd) : fd_(fd) {}
  void log(const spdlog::details::log_msg& message) override;

 private:
  int fd_;
};

// True where `stream`, JOURNAL_STREAM of the environment, names this file: "device:inode", decimal
// (systemd.exec(5)). A program inherits the variable also where its stderr goes elsewhere.
[[nodiscard]] bool is_journal(std::string_view stream, const struct stat& file);

}  // namespace pvrdma::log
