// SPDX-License-Identifier: GPL-2.0-or-later
// Findings, and the holders of a device.
#include <algorithm>
#include <iterator>
#include <span>

#include "agent/base/text.hpp"
#include "agent/ctl/rendering.hpp"
#include "agent/model/catalogue.hpp"

namespace pvrdma::ctl {

namespace {

constexpr std::size_t kIndent = 9;
constexpr std::size_t kHoldersShown = 8;

// "0000:13:00.1 (rocep19s0f1, ens224f0)": with the names that people use for an adapter.
std::string adapter_name(const std::string& function, const std::vector<AdapterHealth>* adapters) {
  std::vector<std::string> names;
  if (adapters != nullptr)
    for (const AdapterHealth& health : *adapters) {
      if (health.adapter.function != function) continue;
      if (const RdmaDevice* rdma = health.adapter.rdma_device.get()) names.push_back(rdma->name);
      if (const Netdev* netdev = health.adapter.netdev.get()) names.push_back(netdev->name);
    }
  return function + (names.empty() ? "" : " (" + joined(names) + ")");
}

// Most readers are administrators of the guest, so only other actors are named.
std::string whose_move(Actor actor) {
  if (actor == Actor::Host) return " (vSphere administrator)";
  if (actor == Actor::Image) return " (maker of the image)";
  return "";
}

std::string label(Severity severity, const Style& style) {
  const std::string word = severity == Severity::Info ? "NOTE" : upper(to_string(severity));
  const Colour colour = severity == Severity::Error     ? Colour::Red
                        : severity == Severity::Warning ? Colour::Yellow
                                                        : Colour::Bold;
  return painted(word, colour, style) + std::string(kIndent - word.size(), ' ');
}

std::string render_finding(const Finding& finding, const FindingStyle& which, const Style& style) {
  const std::string gap(kIndent, ' ');
  const auto text = [&](const std::string& content) {
    return wrapped(printable(content), style.width, kIndent) + "\n";
  };
  const std::string id =
      finding.id == FindingId::Other ? "" : std::string{to_string(finding.id)} + ": ";
  std::string out = label(finding.severity, style) + text(id + finding.summary);
  if (finding.adapter && !has_part(finding.summary, *finding.adapter))
    out += gap + text("Adapter: " + adapter_name(*finding.adapter, which.adapters));
  if (!finding.holders.empty())
    out += gap + text("Held by:") + render_holders(finding.holders, kIndent + 2, kHoldersShown);
  if (!finding.remedy.empty())
    out += gap + text("To do" + whose_move(finding.actor) + ": " + finding.remedy);
  // These lines are for copying, so they are neither wrapped nor cut.
  if (which.commands)
    for (const std::string& command : commands_of(finding))
      out += gap + "  " + printable(command) + "\n";
  return out;
}

}  // namespace

std::string render_holders(const std::vector<Holder>& holders, std::size_t indent,
                           std::size_t limit) {
  const std::string gap(indent, ' ');
  std::string out;
  for (const Holder& holder : std::span{holders}.first(std::min(holders.size(), limit))) {
    out +=
        gap +
        (holder.pid == 0 && !holder.command.empty() ? ""
                                                    : "PID " + std::to_string(holder.pid) + " ") +
        (holder.command.empty() ? "(its name could not be read)" : printable(holder.command));
    if (!holder.rdma_device.empty()) out += " (" + printable(holder.rdma_device) + ")";
    out += "\n";
  }
  if (holders.size() > limit)
    out += gap + "and " + std::to_string(holders.size() - limit) + " more (all of them: --json)\n";
  return out;
}

std::string render_findings(const std::vector<Finding>& findings, const FindingStyle& which,
                            const Style& style) {
  std::vector<Finding> sorted;
  std::copy_if(findings.begin(), findings.end(), std::back_inserter(sorted), [&](const auto& one) {
    return (one.severity == Severity::Info) == (which.notes == Notes::Only);
  });
  std::stable_sort(sorted.begin(), sorted.end(), is_worse);
  std::string out;
  for (const Finding& finding : sorted) out += render_finding(finding, which, style);
  return out;
}

const Finding* worst_finding(const Health& health) {
  const auto& all = health.findings;
  const auto worst = std::min_element(all.begin(), all.end(), is_worse);
  return worst == all.end() ? nullptr : &*worst;
}

}  // namespace pvrdma::ctl
