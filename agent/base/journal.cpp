#include "agent/base/journal.hpp"

#include <sys/uio.h>
#include <systemd/sd-journal.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace pvrdma::journal {

void log(Priority priority, std::string_view message_id, const std::string& message,
         std::initializer_list<FieldPair> fields) {
  // systemd sets JOURNAL_STREAM for a service whose stderr is the journal (systemd.exec(5)).
  if (std::getenv("JOURNAL_STREAM") == nullptr) {
    std::fprintf(stderr, "%s\n", message.c_str());
    return;
  }
  std::vector<std::string> lines;
  lines.reserve(fields.size() + 3);
  lines.push_back("MESSAGE=" + message);
  lines.push_back("PRIORITY=" + std::to_string(static_cast<int>(priority)));
  if (!message_id.empty()) lines.push_back("MESSAGE_ID=" + std::string{message_id});
  for (const auto& [name, value] : fields)
    lines.push_back(std::string{name} + "=" + std::string{value});
  std::vector<iovec> vectors;
  vectors.reserve(lines.size());
  for (auto& line : lines) vectors.push_back({line.data(), line.size()});
  // A log that cannot be written has nowhere to be reported.
  static_cast<void>(sd_journal_sendv(vectors.data(), static_cast<int>(vectors.size())));
}

}  // namespace pvrdma::journal
