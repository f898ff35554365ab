// SPDX-License-Identifier: GPL-2.0-or-later
// Health in few lines: a table with one line for each adapter, and a single line for a monitor.
#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "agent/base/format.hpp"
#include "agent/base/text.hpp"
#include "agent/ctl/rendering.hpp"

namespace pvrdma::ctl {

namespace {

constexpr std::size_t kColumns = 8;
constexpr std::size_t kStateColumn = 1;
using Line = std::array<std::string, kColumns>;

// "?" for unreadable, "-" for absent.
template <typename T>
std::string sign_of_lack(const Field<T>& field) {
  return field.is_unreadable() ? "?" : "-";
}

std::string or_none(const std::string& text) { return text.empty() ? "-" : printable(text); }

std::string link_cell(const Netdev& netdev) {
  if (!netdev.link_up) return "down";
  const bool* carrier = netdev.carrier.get();
  if (carrier == nullptr) return "up, carrier ?";
  return *carrier ? "up" : "no carrier";
}

std::string port_cell(const Field<PortState>& state) { return word_or(state, sign_of_lack(state)); }

Line line_of(const AdapterHealth& health) {
  const Field<RdmaDevice>& rdma = health.adapter.rdma_device;
  const Field<Netdev>& netdev = health.adapter.netdev;
  const RdmaDevice* device = rdma.get();
  const Netdev* link = netdev.get();
  return {or_none(health.adapter.function),
          to_string(health.state),
          device ? or_none(device->name) : sign_of_lack(rdma),
          device ? port_cell(device->port.state) : sign_of_lack(rdma),
          link ? or_none(link->name) : sign_of_lack(netdev),
          link ? link_cell(*link) : sign_of_lack(netdev),
          link ? std::to_string(link->mtu) : sign_of_lack(netdev),
          link ? or_none(addresses_of(*link)) : sign_of_lack(netdev)};
}

std::string aligned(const Line& line, const std::array<std::size_t, kColumns>& widths,
                    const Style& style, std::optional<State> state) {
  std::string out;
  for (std::size_t at = 0; at < kColumns; ++at) {
    const bool last = at + 1 == kColumns;
    const std::string cell = last ? line[at] : padded(line[at], widths[at]);
    out += state && at == kStateColumn ? painted(cell, colour_of(*state), style) : cell;
    out += last ? "\n" : "  ";
  }
  return out;
}

std::string status_line(int code, const std::string& text) {
  constexpr std::array<const char*, 4> kWords{"OK", "WARNING", "CRITICAL", "UNKNOWN"};
  std::string shown = printable(text);
  std::replace(shown.begin(), shown.end(), '|', '/');  // a '|' would begin the numbers
  return formatted("PVRDMA {} - {}", kWords.at(static_cast<std::size_t>(code)), shown);
}

// The thresholds match the verdict: fewer ready adapters than adapters is a warning, no ready
// adapter is critical.
std::string numbers(const Health& health, BootTime now) {
  const std::size_t all = health.adapters.size();
  const std::size_t ready = count(health.adapters, State::Ready);
  const auto seconds_since = [&](BootTime time) {
    return std::max<std::int64_t>(std::chrono::floor<std::chrono::seconds>(now - time).count(), 0);
  };
  return formatted(
      "adapters={};;;0 ready={};{}:;{}:;0;{} reloads={}c rebinds={}c in_state={}s;;;0 age={}s;;;0",
      all, ready, all, std::min<std::size_t>(all, 1), all, health.reloads, health.rebinds,
      seconds_since(health.since), seconds_since(health.observed));
}

}  // namespace

std::string render_status(const Health& health, const Style& style) {
  if (health.adapters.empty())
    return health.state == State::Absent
               ? "no PVRDMA adapter\n"
               : std::string{to_string(health.state)} + ": " + printable(health.summary) + "\n";
  const Line header{"FUNCTION", "STATE", "RDMA-DEVICE", "PORT",
                    "NETDEV",   "LINK",  "MTU",         "ADDRESSES"};
  std::vector<Line> lines;
  for (const AdapterHealth& adapter : health.adapters) lines.push_back(line_of(adapter));
  std::array<std::size_t, kColumns> widths{};
  for (std::size_t at = 0; at < kColumns; ++at) {
    widths[at] = columns(header[at]);
    for (const Line& line : lines) widths[at] = std::max(widths[at], columns(line[at]));
  }
  std::string out = aligned(header, widths, style, std::nullopt);
  for (std::size_t at = 0; at < lines.size(); ++at)
    out += aligned(lines[at], widths, style, health.adapters[at].state);
  if (health.state == State::Unknown) out += "UNKNOWN: " + printable(health.summary) + "\n";
  return out;
}

std::string plugin_line(const Health& health, BootTime now) {
  const Finding* worst = worst_finding(health);
  std::string text = health.summary;
  // The summary may contain the finding already.
  if (worst != nullptr && worst->severity != Severity::Info && !has_part(text, worst->summary))
    text += "; " + worst->summary;
  return status_line(exit_code(health.state), text) + " | " + numbers(health, now) + "\n";
}

std::string plugin_line(const std::string& why) {
  return status_line(exit_code(State::Unknown), why) + "\n";
}

}  // namespace pvrdma::ctl
