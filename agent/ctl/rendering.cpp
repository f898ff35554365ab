#include "agent/ctl/rendering.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <vector>

#include "agent/ctl/fields.hpp"
#include "agent/model/health.hpp"

namespace pvrdma::ctl {

namespace {

// The daemon looks again every fifteen seconds at least; three missed looks are worth a word.
constexpr Milliseconds kOldLook = std::chrono::seconds{45};

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return text;
}

std::string line_of_times(const Json& health, const Style& style) {
  std::string line;
  if (const auto since = text(health, "since")) line = "since " + moment(*since, style.now);
  const auto age = number(health, "observed_ms_ago");
  std::string seen = age ? "observed " + span(Milliseconds{*age}) + " ago"
                         : "the adapters have not been looked at yet";
  if (age && Milliseconds{*age} > kOldLook) seen += " - an old look, the agent may be stuck";
  return line + (line.empty() ? "" : ", ") + seen;
}

// The summary names its foremost finding after a colon, for places where there is no more room.
// Here the findings follow, so once is enough.
std::string summary_alone(const Json& health) {
  std::string summary = text(health, "summary").value_or("");
  for (const Json& finding : list_of(health, "findings")) {
    const std::string tail = ": " + text(finding, "summary").value_or("");
    if (summary.size() > tail.size() &&
        summary.compare(summary.size() - tail.size(), tail.size(), tail) == 0)
      summary.erase(summary.size() - tail.size());
  }
  return summary;
}

std::string verdict(const Json& health, const Style& style) {
  const std::string state = state_of(health);
  const std::string word = upper(state);
  const std::size_t indent = columns(word) + 2;
  return painted(word, colour_of_state(state), style) + "  " +
         wrapped(summary_alone(health), style.width, indent) + "\n" + std::string(indent, ' ') +
         painted(wrapped(line_of_times(health, style), style.width, indent), Colour::Dim, style) +
         "\n";
}

// No adapter is no fault to the agent, and may be one to who reads this.
std::string hint_of_absence(const Json& health, const Style& style) {
  if (state_of(health) != "absent") return {};
  return wrapped(
             "If there should be one, require it by readiness.adapters; `pvrdma-agentctl "
             "doctor` says why there is none.",
             style.width, 0) +
         "\n";
}

// "LoadModule mlx4_ib" as the interface writes it, in words.
std::string call_in_words(const std::string& call) {
  const auto gap = call.find(' ');
  if (gap == std::string::npos) return in_words(call, "");
  return in_words(call.substr(0, gap), call.substr(gap + 1));
}

std::string executor_lines(const Json& health, const Style& style) {
  const Json& busy = object_of(object_of(health, "executor"), "busy");
  const auto call = text(busy, "call");
  if (!call) return {};
  const std::string time = span(Milliseconds{number(busy, "for_ms").value_or(0)});
  if (!flag(busy, "stuck").value_or(false))
    return "Doing now: " + wrapped(call_in_words(*call) + " (for " + time + ")", style.width, 11) +
           "\n";
  // The agent's own finding says the same, with a remedy.
  for (const Json& finding : list_of(health, "findings"))
    if (text(finding, "id") == to_string(FindingId::ExecutorStuck)) return {};
  return painted("STUCK", Colour::Red, style) + "  " +
         wrapped(call_in_words(*call) + ": the kernel has not returned from this call for " + time +
                     ", and it cannot be taken back. See: journalctl -k -b",
                 style.width, 7) +
         "\n";
}

std::string counters(const Json& health, const Style& style) {
  const Json& executor = object_of(health, "executor");
  const auto reloads = number(executor, "reloads").value_or(0);
  const auto rebinds = number(executor, "rebinds").value_or(0);
  std::string text;
  if (reloads > 0) text = "driver reloaded " + std::to_string(reloads) + "x";
  if (rebinds > 0)
    text += (text.empty() ? "" : ", ") + std::string{"adapter bound to its driver again "} +
            std::to_string(rebinds) + "x";
  if (text.empty()) return {};
  return painted("Since boot: " + text, Colour::Dim, style) + "\n";
}

std::vector<const Json*> worst_first(const Json& list, int (*rank)(const Json&)) {
  std::vector<const Json*> sorted;
  for (const Json& item : list)
    if (item.is_object()) sorted.push_back(&item);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Json* a, const Json* b) { return rank(*a) < rank(*b); });
  return sorted;
}

int finding_rank(const Json& finding) {
  return rank_of_severity(text(finding, "severity").value_or(""));
}
int adapter_rank(const Json& adapter) { return rank_of_state(state_of(adapter)); }

// ", rocep19s0f1": the names by which people know the adapter of a finding.
std::string adapter_name(const Json& health, const std::string& function) {
  for (const Json& adapter : list_of(health, "adapters")) {
    if (text(adapter, "function") != function) continue;
    const auto device = text(adapter, "rdma_device");
    const auto netdev = text(adapter, "netdev");
    if (device && netdev) return function + " (" + *device + ", " + *netdev + ")";
    if (device || netdev) return function + " (" + (device ? *device : *netdev) + ")";
  }
  return function;
}

// Of those who read this, most are the guest's own administrators: said is who else has to act.
std::string whose_move(const std::string& actor) {
  if (actor == to_string(Actor::Host)) return " (vSphere administrator)";
  if (actor == to_string(Actor::Image)) return " (who makes the image)";
  return "";
}

std::string render_finding(const Json& finding, const Json& health, const Style& style) {
  constexpr std::size_t kIndent = 9;
  constexpr std::size_t kHolders = 8;
  const std::string severity = text(finding, "severity").value_or("info");
  const Colour colour = severity == "error"     ? Colour::Red
                        : severity == "warning" ? Colour::Yellow
                                                : Colour::Bold;
  const std::string word = severity == "info" ? "NOTE" : upper(severity);
  const std::string gap(kIndent, ' ');
  const auto line = [&](const std::string& content) {
    return gap + wrapped(content, style.width, kIndent) + "\n";
  };
  const auto id = text(finding, "id");
  const std::string summary = text(finding, "summary").value_or("");
  // A newer agent may have a longer word.
  std::string out = painted(word, colour, style) +
                    padded("", kIndent - std::min(columns(word), kIndent - 1)) +
                    wrapped((id ? *id + ": " : "") + summary, style.width, kIndent) + "\n";
  if (const auto adapter = text(finding, "adapter"))
    if (summary.find(*adapter) == std::string::npos)
      out += line("Adapter: " + adapter_name(health, *adapter));
  const Json& holders = list_of(object_of(finding, "evidence"), "holders");
  if (!holders.empty()) out += line("Held by:") + render_holders(holders, kIndent + 2, kHolders);
  if (const auto remedy = text(finding, "remedy"); remedy && !remedy->empty())
    out += line("To do" + whose_move(text(finding, "actor").value_or("")) + ": " + *remedy);
  // To be copied, so neither wrapped nor cut. Only `doctor` has them.
  for (const std::string& command : texts(finding, "commands")) out += gap + "  " + command + "\n";
  return out;
}

}  // namespace

std::string in_words(const std::string& verb, const std::string& target) {
  if (verb == "LoadModule") return "load module " + target;
  if (verb == "BindFunction") return "bind driver vmw_pvrdma to adapter " + target;
  if (verb == "RebindFunction")
    return "unbind adapter " + target + " from its driver, bind it again";
  if (verb == "ReloadDriver") return "unload driver vmw_pvrdma and load it again, for all adapters";
  if (verb == "ConfigureLink") return "bring up the link of adapter " + target;
  return verb + (target.empty() ? "" : " ") + target;
}

Colour colour_of_state(const std::string& state) {
  if (state == "ready") return Colour::Green;
  if (state == "absent") return Colour::Bold;
  if (state == "converging" || state == "degraded") return Colour::Yellow;
  return Colour::Red;
}

int rank_of_state(const std::string& state) {
  if (state == "failed") return 0;
  if (state == "degraded") return 2;
  if (state == "converging") return 3;
  if (state == "ready") return 4;
  return 1;  // unknown, or a word of a newer daemon
}

int rank_of_severity(const std::string& severity) {
  if (severity == "error") return 0;
  if (severity == "warning") return 1;
  return 2;
}

std::string render_holders(const Json& holders, std::size_t indent, std::size_t limit) {
  std::string out;
  std::size_t shown = 0;
  for (const Json& holder : holders) {
    if (shown == limit) {
      return out + std::string(indent, ' ') + "and " + std::to_string(holders.size() - limit) +
             " more (all of them: --json)\n";
    }
    ++shown;
    const auto pid = number(holder, "pid");
    std::string command = text(holder, "command").value_or("");
    if (command.empty()) command = "(its name could not be read)";
    out += std::string(indent, ' ') + "PID " + (pid ? std::to_string(*pid) : "?") + " " + command;
    if (const auto device = text(holder, "rdma_device"); device && !device->empty())
      out += " (" + *device + ")";
    out += "\n";
  }
  return out;
}

std::string render_findings(const Json& health, Notes notes, const Style& style) {
  std::string out;
  for (const Json* finding : worst_first(list_of(health, "findings"), finding_rank)) {
    const bool is_note = finding_rank(*finding) == rank_of_severity("info");
    if (is_note == (notes == Notes::Only)) out += render_finding(*finding, health, style);
  }
  return out;
}

const Json* worst_finding(const Json& health) {
  const auto sorted = worst_first(list_of(health, "findings"), finding_rank);
  return sorted.empty() ? nullptr : sorted.front();
}

std::string reason_of(const Json& health) {
  const Json* worst = worst_finding(health);
  if (worst != nullptr && finding_rank(*worst) < rank_of_severity("info"))
    if (const auto summary = text(*worst, "summary")) return *summary;
  const Json& busy = object_of(object_of(health, "executor"), "busy");
  if (const auto call = text(busy, "call")) return call_in_words(*call) + " to finish";
  return text(health, "summary").value_or("no reason given");
}

std::string render_health(const Json& health, const Style& style) {
  std::string out = verdict(health, style);
  const auto block = [&](const std::string& text) {
    if (!text.empty()) out += "\n" + text;
  };
  block(hint_of_absence(health, style));
  block(executor_lines(health, style));
  block(render_findings(health, Notes::Without, style));
  for (const Json* adapter : worst_first(list_of(health, "adapters"), adapter_rank))
    block(render_adapter(*adapter, style));
  block(render_findings(health, Notes::Only, style));
  block(counters(health, style));
  return out;
}

}  // namespace pvrdma::ctl
