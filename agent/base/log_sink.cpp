#include "agent/base/log_sink.hpp"

#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include <cerrno>

#include "agent/base/format.hpp"
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

void JournalSink::log(const spdlog::details::log_msg& message) {
  const Extra& extra = extra_of_message();
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
  // A stderr that takes nothing is nothing that could be reported.
  while (::write(fd_, line.data(), line.size()) < 0 && errno == EINTR) {
  }
}

bool is_journal(std::string_view stream, const struct stat& file) {
  const auto device = number_from<dev_t>(cut(stream, ':'));
  return device && *device == file.st_dev && number_from<ino_t>(stream) == file.st_ino;
}

}  // namespace pvrdma::log
