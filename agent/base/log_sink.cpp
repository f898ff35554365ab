#include "agent/base/log_sink.hpp"

#include <sys/uio.h>
#include <systemd/sd-journal.h>

#include "agent/base/text.hpp"

namespace pvrdma::log {

namespace {

constexpr std::size_t kLongestField = 256;

}  // namespace

void send_to_journal(JournalEntry entry) {
  std::vector<iovec> vectors;
  vectors.reserve(entry.size());
  for (auto& line : entry) vectors.push_back({line.data(), line.size()});
  static_cast<void>(sd_journal_sendv(vectors.data(), static_cast<int>(vectors.size())));
}

void JournalSink::sink_it_(const spdlog::details::log_msg& message) {
  const Extra& extra = extra_of_message();
  JournalEntry entry;
  entry.reserve(extra.fields.size() + 3);
  entry.push_back(
      fmt::format("MESSAGE={}", std::string_view{message.payload.data(), message.payload.size()}));
  entry.push_back(fmt::format("PRIORITY={}", static_cast<int>(extra.level)));
  if (!extra.message_id.empty()) entry.push_back(fmt::format("MESSAGE_ID={}", extra.message_id));
  for (const auto& [name, value] : extra.fields)
    if (!value.empty())
      entry.push_back(fmt::format("{}={}", name, printable(value, kLongestField)));
  send_(std::move(entry));
}

bool is_journal(std::string_view stream, const struct stat& file) {
  const auto device = number_from<dev_t>(cut(stream, ':'));
  return device && *device == file.st_dev && number_from<ino_t>(stream) == file.st_ino;
}

}  // namespace pvrdma::log
