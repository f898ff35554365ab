#include "agent/ctl/report/manifest.hpp"

#include <nlohmann/json.hpp>

#include "agent/ctl/text.hpp"

namespace pvrdma::ctl::bundle {

Json manifest(const std::vector<Entry>& entries, const Circumstances& circumstances) {
  Json parts = Json::array();
  for (const Entry& entry : entries)
    parts.push_back({{"name", entry.name},
                     {"source", entry.source},
                     {"outcome", word_of(entry.outcome)},
                     {"reason", entry.reason.empty() ? Json{} : Json(entry.reason)},
                     {"missed", is_missed(entry)},
                     {"took_ms", entry.took.count()},
                     {"bytes", entry.content.size()},
                     {"truncated", entry.truncated}});
  return {{"version", 1},
          {"program", "pvrdma-agentctl " + circumstances.version},
          {"made", circumstances.made},
          {"as_root", circumstances.root},
          {"redacted", circumstances.redacted},
          {"took_ms", circumstances.took.count()},
          {"parts", std::move(parts)}};
}

std::string missed(const std::vector<Entry>& entries) {
  std::string text;
  std::string reason;  // of those named last
  for (const Entry& entry : entries) {
    if (!is_missed(entry)) continue;
    if (!text.empty())
      text += (entry.reason == reason ? "" : " (" + printable(reason) + ")") + ", ";
    text += printable(entry.name);
    reason = entry.reason;
  }
  return text.empty() ? text : text + " (" + printable(reason) + ")";
}

}  // namespace pvrdma::ctl::bundle
