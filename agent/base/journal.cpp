#include "agent/base/journal.hpp"

#include <sys/uio.h>
#include <systemd/sd-journal.h>

#include <cstdio>
#include <cstdlib>

#include "agent/base/text.hpp"

namespace pvrdma::journal {

namespace {

constexpr std::size_t kLongestMessage = 4096;
constexpr std::size_t kLongestField = 256;

}  // namespace

std::vector<std::string> entry(Priority priority, std::string_view message_id,
                               std::string_view message, std::initializer_list<FieldPair> fields) {
  std::vector<std::string> lines;
  lines.reserve(fields.size() + 3);
  lines.push_back("MESSAGE=" + printable(message, kLongestMessage));
  lines.push_back("PRIORITY=" + std::to_string(static_cast<int>(priority)));
  if (!message_id.empty()) lines.push_back("MESSAGE_ID=" + std::string{message_id});
  for (const auto& [name, value] : fields)
    lines.push_back(std::string{name} + "=" + printable(value, kLongestField));
  return lines;
}

void log(Priority priority, std::string_view message_id, const std::string& message,
         std::initializer_list<FieldPair> fields) {
  // systemd sets JOURNAL_STREAM for a service whose stderr is the journal (systemd.exec(5)).
  if (std::getenv("JOURNAL_STREAM") == nullptr) {
    std::fprintf(stderr, "%s\n", printable(message, kLongestMessage).c_str());
    return;
  }
  std::vector<std::string> lines = entry(priority, message_id, message, fields);
  std::vector<iovec> vectors;
  vectors.reserve(lines.size());
  for (auto& line : lines) vectors.push_back({line.data(), line.size()});
  // A log that cannot be written has nowhere to be reported.
  static_cast<void>(sd_journal_sendv(vectors.data(), static_cast<int>(vectors.size())));
}

}  // namespace pvrdma::journal
