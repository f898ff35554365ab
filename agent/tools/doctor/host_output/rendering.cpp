// SPDX-License-Identifier: GPL-2.0-or-later
// Renders the result of `doctor --host-output`. Pure.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "agent/base/text.hpp"
#include "agent/ctl/json_text.hpp"
#include "agent/ctl/text.hpp"
#include "agent/tools/doctor/host_output/command.hpp"

namespace pvrdma::ctl {

namespace {

using doctor::HostReading;
using doctor::HostRemark;
using doctor::Weight;

constexpr std::size_t kWeightColumns = 9;
constexpr std::size_t kPartColumns = 14;
constexpr std::size_t kMostUnknown = 10;    // number of texts shown
constexpr std::size_t kLongestBegins = 50;  // bytes of each

Colour colour_of(Weight weight) {
  // The index is the number of Weight.
  constexpr std::array kColours{Colour::Red, Colour::Yellow, Colour::Bold, Colour::Green};
  return kColours.at(static_cast<std::size_t>(weight));
}

std::string headline(const HostReading& reading, const Style& style) {
  const auto changes =
      std::count_if(reading.remarks.begin(), reading.remarks.end(),
                    [](const HostRemark& remark) { return remark.weight == Weight::Change; });
  const std::string hosts = reading.hosts.size() > 1 ? "ESXi hosts" : "ESXi host";
  if (changes > 0)
    return painted("CHANGE", Colour::Red, style) + "  on the " + hosts + ": " +
           std::to_string(changes) + (changes == 1 ? " thing" : " things") + "\n";
  if (reading.remarks.empty())
    return painted("UNKNOWN", Colour::Yellow, style) + "  nothing in it is understood\n";
  if (code_of(reading) != 0)
    return painted("INCOMPLETE", Colour::Yellow, style) +
           "  the part that is there and understood needs no change\n";
  return painted("GOOD", Colour::Green, style) + "  nothing is to be changed on the " + hosts +
         "\n";
}

std::string called(const std::string& host) {
  return host.empty() ? "a host without a name" : printable(host);
}

// `of_several`: the name of the host stands before the remark.
std::string rows_of(const HostRemark& remark, bool of_several, const Style& style) {
  const std::size_t indent = kWeightColumns + kPartColumns;
  const std::string place = remark.line == 0 ? "" : " (line " + std::to_string(remark.line) + ")";
  std::string rows =
      painted(padded(to_string(remark.weight), kWeightColumns), colour_of(remark.weight), style) +
      padded(about(remark.part).name, kPartColumns) +
      wrapped((of_several ? called(remark.host) + ": " : "") + printable(remark.says) + place,
              style.width, indent) +
      "\n";
  const auto add = [&](const std::string& line) { rows += std::string(indent, ' ') + line + "\n"; };
  add(wrapped(printable(remark.means), style.width, indent));
  for (const std::string& command : remark.commands) add("ESXi shell: " + command);
  if (!remark.menu.empty())
    add("vSphere Client: " + wrapped(remark.menu, style.width, indent + 16));
  return rows;
}

std::string missing_rows(const HostReading& reading, bool required, const char* title) {
  std::string rows;
  for (const doctor::MissingPart& missing : reading.missing)
    if (missing.is_required == required)
      rows += "  " + padded(about(missing.part).name, kPartColumns) + missing.command +
              (reading.hosts.size() > 1 && missing.part != doctor::HostPart::Properties
                   ? "    # on " + called(missing.host)
                   : "") +
              "\n";
  return rows.empty() ? "" : std::string{"\n"} + title + "\n" + rows;
}

}  // namespace

std::string render_host_output(const HostReading& reading, const Style& style) {
  const bool are_several = reading.hosts.size() > 1;
  std::string out = headline(reading, style) + "\n";
  if (are_several) out += "Each host in it is judged as if this VM ran there.\n\n";
  for (const HostRemark& remark : reading.remarks) out += rows_of(remark, are_several, style);
  out += missing_rows(reading, true, "Not in the paste; to be run in the ESXi shell:");
  out += missing_rows(reading, false, "Not in the paste; these tell more, and need not be run:");
  if (!reading.unknown.empty()) out += "\nNot understood:\n";
  const std::size_t shown = std::min(reading.unknown.size(), kMostUnknown);
  for (std::size_t index = 0; index < shown; ++index) {
    const PastedText& text = reading.unknown[index];
    out += "  line " + std::to_string(text.line) + ": " +
           printable(trimmed(text.begins), kLongestBegins) +
           (text.lines > 1 ? " (" + std::to_string(text.lines) + " lines)" : "") + "\n";
  }
  if (shown < reading.unknown.size())
    out += "  and " + std::to_string(reading.unknown.size() - shown) + " more\n";
  return out;
}

Json host_output_json(const HostReading& reading, const doctor::GuestVm& guest) {
  Json json = {{"remarks", Json::array()},
               {"missing", Json::array()},
               {"unknown", Json::array()},
               {"interfaces", Json::array()}};
  for (const HostRemark& remark : reading.remarks)
    json["remarks"].push_back({{"severity", to_string(remark.weight)},
                               {"part", about(remark.part).id},
                               {"line", remark.line == 0 ? Json(nullptr) : Json(remark.line)},
                               {"says", printable(remark.says)},
                               {"means", printable(remark.means)},
                               {"commands", remark.commands},
                               {"menu", remark.menu},
                               {"host", or_null(printable(remark.host))}});
  for (const doctor::MissingPart& missing : reading.missing)
    json["missing"].push_back({{"part", about(missing.part).id},
                               {"command", missing.command},
                               {"required", missing.is_required},
                               {"host", or_null(printable(missing.host))}});
  for (const PastedText& text : reading.unknown)
    json["unknown"].push_back({{"line", text.line},
                               {"lines", text.lines},
                               {"begins", printable(trimmed(text.begins), kLongestBegins)}});
  for (const doctor::GuestLink& link : guest.links)
    json["interfaces"].push_back(
        {{"name", link.name}, {"mtu_bytes", link.mtu}, {"mac", or_null(link.mac)}});
  return json;
}

}  // namespace pvrdma::ctl
