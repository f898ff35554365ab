// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/base/log.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "agent/base/format.hpp"
#include "agent/base/log_sink.hpp"
#include "agent/base/text.hpp"

namespace pvrdma::log {

namespace {

constexpr std::size_t kLongestMessage = 4096;
constexpr std::size_t kLongestField = 256;
constexpr std::string_view kOption = "--log-level";

constexpr std::array<std::pair<std::string_view, Level>, 5> kLevels{{{"error", Level::Error},
                                                                     {"warning", Level::Warning},
                                                                     {"notice", Level::Notice},
                                                                     {"info", Level::Info},
                                                                     {"debug", Level::Debug}}};

std::atomic<Level> threshold{Level::Info};

// The data of an entry besides its message, which spdlog's message type cannot hold.
struct Extra {
  Level level = Level::Info;
  std::string_view message_id;
  std::initializer_list<FieldPair> fields;
};
// Belongs to the message that this thread is logging. spdlog calls the sinks in the thread that
// logs, before it returns, so a thread has at most one message under way.
thread_local Extra under_way;

bool journal_is_on_stderr() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat file {};
  return stream != nullptr && ::fstat(STDERR_FILENO, &file) == 0 && is_journal(stream, file);
}

// Never freed, like the logger.
Journal& journal() {
  static Journal& ours = *new Journal;  // NOLINT(*-owning-memory)
  return ours;
}

spdlog::sink_ptr usual_sink() {
  if (journal_is_on_stderr())
    return std::make_shared<JournalSink>([](const JournalEntry& entry) { journal().send(entry); });
  return std::make_shared<LineSink>(STDERR_FILENO);
}

std::optional<Level> level_from(std::string_view word) {
  for (const auto& [known, level] : kLevels)
    if (known == word) return level;
  return std::nullopt;
}

std::string allowed() {
  std::vector<std::string> words;
  words.reserve(kLevels.size());
  for (const auto& [word, level] : kLevels) words.emplace_back(word);
  return joined(words);
}

}  // namespace

spdlog::logger& logger() {
  // Never freed: a thread that is left behind may still log while the program ends.
  static spdlog::logger& ours = [&]() -> spdlog::logger& {
    auto& made = *new spdlog::logger{"pvrdma", usual_sink()};  // NOLINT(*-owning-memory)
    // An exception from a sink is passed on to the caller; spdlog would print it in its own form.
    made.set_error_handler([](const std::string& /*what*/) { throw; });
    return made;
  }();
  return ours;
}

void set_level(Level least) { threshold = least; }

bool wants(Level level) { return level <= threshold; }

Result<std::vector<std::string_view>> take_log_level(int argc, const char* const* argv) {
  std::vector<std::string_view> others;
  for (int at = 1; at < argc; ++at) {
    if (argv[at] != kOption) {
      others.emplace_back(argv[at]);
      continue;
    }
    const auto level = at + 1 < argc ? level_from(argv[at + 1]) : std::nullopt;
    if (!level)
      return fail(0, formatted("{} takes one of {}, and not", kOption, allowed()),
                  at + 1 < argc ? formatted("\"{}\"", argv[at + 1]) : "nothing");
    set_level(*level);
    ++at;
  }
  return others;
}

void event(Level level, std::string_view message_id, std::string_view message,
           std::initializer_list<FieldPair> fields) {
  if (!wants(level)) return;
  const std::string line = printable(message, kLongestMessage);
  under_way = {level, message_id, fields};
  const std::unique_ptr<Extra, void (*)(Extra*)> over{&under_way, [](Extra* mine) { *mine = {}; }};
  logger().log(spdlog::level::info, spdlog::string_view_t{line.data(), line.size()});
}

void tell_dropped() { journal().tell_dropped(); }

void write(Level level, fmt::string_view format, fmt::format_args arguments) {
  if (wants(level)) event(level, {}, formatted_with(format, arguments));
}

void JournalSink::log(const spdlog::details::log_msg& message) {
  const Extra& extra = under_way;
  JournalEntry entry;
  entry.reserve(extra.fields.size() + 3);
  entry.push_back(
      formatted("MESSAGE={}", std::string_view{message.payload.data(), message.payload.size()}));
  entry.push_back(formatted("PRIORITY={}", static_cast<int>(extra.level)));
  if (!extra.message_id.empty()) entry.push_back(formatted("MESSAGE_ID={}", extra.message_id));
  for (const auto& [name, value] : extra.fields)
    if (!value.empty()) entry.push_back(formatted("{}={}", name, printable(value, kLongestField)));
  send_(std::move(entry));
}

void LineSink::log(const spdlog::details::log_msg& message) {
  std::string line{message.payload.data(), message.payload.size()};
  line += '\n';
  // A failure of stderr cannot be reported anywhere.
  while (::write(fd_, line.data(), line.size()) < 0 && errno == EINTR) {
  }
}

bool is_journal(std::string_view stream, const struct stat& file) {
  const auto device = number_from<dev_t>(cut(stream, ':'));
  return device && *device == file.st_dev && number_from<ino_t>(stream) == file.st_ino;
}

}  // namespace pvrdma::log
