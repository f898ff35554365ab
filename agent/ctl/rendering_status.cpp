// The table with a line for each adapter.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "agent/base/text.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/ctl/rendering.hpp"

namespace pvrdma::ctl {

namespace {

constexpr std::size_t kColumns = 8;
constexpr std::size_t kStateColumn = 1;
using Line = std::array<std::string, kColumns>;

// "?" for what could not be read, "-" for what is not there.
std::string cell(const Json& adapter, const char* key, const std::optional<std::string>& value) {
  if (value && !value->empty()) return *value;
  return is_unreadable(adapter, key) ? "?" : "-";
}

std::string port_cell(const Json& adapter) {
  if (is_unreadable(adapter, "port.state")) return "?";
  return cell(adapter, "rdma_device", text(object_of(adapter, "port"), "state"));
}

std::string link_cell(const Json& adapter) {
  const auto up = flag(adapter, "link_up");
  if (!up) return cell(adapter, "netdev", std::nullopt);
  if (!*up) return "down";
  const auto carrier = flag(adapter, "carrier");
  if (!carrier) return "up, carrier ?";
  return *carrier ? "up" : "no carrier";
}

Line line_of(const Json& adapter) {
  const auto mtu = number(adapter, "mtu");
  return {cell(adapter, "function", text(adapter, "function")),
          state_of(adapter),
          cell(adapter, "rdma_device", text(adapter, "rdma_device")),
          port_cell(adapter),
          cell(adapter, "netdev", text(adapter, "netdev")),
          link_cell(adapter),
          cell(adapter, "netdev", mtu ? std::optional{std::to_string(*mtu)} : std::nullopt),
          cell(adapter, "netdev", joined(texts(adapter, "addresses")))};
}

std::string aligned(const Line& line, const std::array<std::size_t, kColumns>& widths,
                    const Style* colours) {
  std::string out;
  for (std::size_t at = 0; at < kColumns; ++at) {
    const bool last = at + 1 == kColumns;
    const std::string cell = last ? line[at] : padded(line[at], widths[at]);
    const bool coloured = at == kStateColumn && colours != nullptr;
    out += coloured ? painted(cell, colour_of_state(line[at]), *colours) : cell;
    out += last ? "\n" : "  ";
  }
  return out;
}

}  // namespace

std::string render_status(const Json& health, const Style& style) {
  const Json& adapters = list_of(health, "adapters");
  if (adapters.empty()) {
    if (state_of(health) == "absent") return "no PVRDMA adapter\n";
    return state_of(health) + ": " + text(health, "summary").value_or("no adapter reported") + "\n";
  }
  const Line header{"FUNCTION", "STATE", "RDMA-DEVICE", "PORT",
                    "NETDEV",   "LINK",  "MTU",         "ADDRESSES"};
  std::vector<Line> lines;
  for (const Json& adapter : adapters) lines.push_back(line_of(adapter));
  std::array<std::size_t, kColumns> widths{};
  for (std::size_t at = 0; at < kColumns; ++at) {
    widths[at] = columns(header[at]);
    for (const Line& line : lines) widths[at] = std::max(widths[at], columns(line[at]));
  }
  std::string out = aligned(header, widths, nullptr);
  for (const Line& line : lines) out += aligned(line, widths, &style);
  return out;
}

}  // namespace pvrdma::ctl
