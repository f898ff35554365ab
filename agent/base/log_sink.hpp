// SPDX-License-Identifier: GPL-2.0-or-later
// The sinks of the log, for log.cpp and for tests that attach their own sink to logger(). No other
// file includes spdlog, as it takes long to compile.
#pragma once

// Makes spdlog and fmt header-only, for the reason given in format.hpp.
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

#include "agent/base/journal.hpp"
#include "agent/base/log.hpp"

namespace pvrdma::log {

// The only logger. Its sinks may be changed only while no other thread logs.
[[nodiscard]] spdlog::logger& logger();

// A base class without spdlog's patterns and formatters, which this program does not use.
class PlainSink : public spdlog::sinks::sink {
 public:
  void flush() override {}
  void set_pattern(const std::string& /*pattern*/) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter> /*formatter*/) override {}
};

// Hands each message with its priority, MESSAGE_ID and fields to `send`, in the thread that logs.
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

// True where `stream`, the environment's JOURNAL_STREAM, names this file: "device:inode", decimal
// (systemd.exec(5)). The check is needed, as a program inherits the variable even if its stderr
// goes elsewhere.
[[nodiscard]] bool is_journal(std::string_view stream, const struct stat& file);

}  // namespace pvrdma::log
