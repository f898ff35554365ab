// The rows of one adapter.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "agent/base/text.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/ctl/rendering.hpp"

namespace pvrdma::ctl {

namespace {

constexpr std::size_t kLabel = 15;   // columns, with the two before it
constexpr std::size_t kGidRows = 8;  // one screen

std::string row(const char* label, const std::string& value, const Style& style) {
  if (value.empty()) return {};
  return padded("  " + std::string{label}, kLabel) + wrapped(value, style.width, kLabel) + "\n";
}

// Empty where an older daemon does not know the field: then there is no row for it.
std::string value_of(const Json& adapter, const char* key, const char* none) {
  if (const auto value = text(adapter, key)) return *value;
  if (!is_null(adapter, key)) return {};
  return is_unreadable(adapter, key) ? "could not be read" : none;
}

std::string rdma_device(const Json& adapter) {
  std::string out = value_of(adapter, "rdma_device", "none: the driver has not registered one");
  const std::string aliases = joined(texts(adapter, "aliases"));
  if (!aliases.empty()) out += ", also known as " + aliases;
  return out;
}

std::string driver(const Json& adapter) {
  const std::string name = value_of(adapter, "driver", "none: vmw_pvrdma is not bound to it");
  return name == "vmw_pvrdma" ? std::string{} : name;
}

std::string port_meaning(const std::string& state) {
  if (state == "ACTIVE") return {};
  if (state == "DOWN") return " (no RDMA traffic)";
  return " (not usable yet)";
}

// The device has a packet size of its own.
std::string rdma_mtu_meaning(std::int64_t rdma_mtu, const Json& adapter) {
  constexpr std::int64_t kUsual = 1024;
  constexpr std::int64_t kEthernet = 1500;
  const bool jumbo = number(adapter, "mtu").value_or(0) > kEthernet;
  return rdma_mtu == kUsual && jumbo ? " (usual with jumbo frames)" : "";
}

std::string port(const Json& adapter) {
  const Json& port = object_of(adapter, "port");
  if (port.empty()) return {};
  std::vector<std::string> parts;
  const auto state = text(port, "state");
  parts.push_back(state ? *state + port_meaning(*state) : "state not known");
  if (const auto physical = text(port, "phys_state")) parts.push_back("physical " + *physical);
  if (const auto mtu = number(port, "active_mtu"))
    parts.push_back("RDMA MTU " + std::to_string(*mtu) + rdma_mtu_meaning(*mtu, adapter));
  // RoCE is the only layer this device has; another would be news.
  if (const auto layer = text(port, "link_layer"); layer && *layer != "Ethernet")
    parts.push_back("link layer " + *layer);
  return joined(parts);
}

std::string link_word(const Json& adapter) {
  const auto up = flag(adapter, "link_up");
  if (!up) return {};
  if (!*up) return "link down";
  const auto carrier = flag(adapter, "carrier");
  if (!carrier) return "link up";
  return *carrier ? "link up with carrier" : "link up but no carrier (no signal from the switch)";
}

std::string interface(const Json& adapter) {
  std::vector<std::string> parts;
  const std::string name = value_of(adapter, "netdev", "none: vmxnet3 has not registered one");
  if (!name.empty()) parts.push_back(name);
  if (const std::string link = link_word(adapter); !link.empty()) parts.push_back(link);
  if (const auto mac = text(adapter, "mac")) parts.push_back(*mac);
  if (const auto mtu = number(adapter, "mtu")) parts.push_back("MTU " + std::to_string(*mtu));
  return joined(parts);
}

// The driver's own idea of the pairing, where it is not what the slot says.
std::string pairing(const Json& adapter) {
  if (!text(adapter, "rdma_device") || !text(adapter, "netdev")) return {};
  if (is_null(adapter, "rdma_netdev")) {
    if (is_unreadable(adapter, "rdma_netdev")) return "could not be read";
    return "none: the driver has lost its interface, link changes do not reach it";
  }
  const auto paired = text(adapter, "rdma_netdev");
  return !paired || paired == text(adapter, "netdev") ? std::string{} : *paired;
}

// `chosen`: the index that applications are to use.
std::string gid(const Json& gid, std::optional<std::int64_t> chosen) {
  const auto index = number(gid, "index");
  const std::string address = text(gid, "gid").value_or("?");
  const std::string type = text(gid, "type").value_or("type not known");
  return "index " + (index ? std::to_string(*index) : "?") + ", " + address + ", " + type +
         (index && index == chosen ? " (for applications)" : "");
}

bool has_only_roce_v1(const Json& gids) {
  return !gids.empty() && std::all_of(gids.begin(), gids.end(), [](const Json& gid) {
    return text(gid, "type") == "IB/RoCE v1";
  });
}

std::string gids(const Json& adapter, const Style& style) {
  const Json& list = list_of(adapter, "gids");
  const auto chosen = number(object_of(adapter, "application_gid"), "index");
  std::string out;
  std::size_t shown = 0;
  for (const Json& entry : list) {
    if (shown == kGidRows) {
      const std::string rest = std::to_string(list.size() - kGidRows);
      return out + row("", "and " + rest + " more (all of them: --json)", style);
    }
    out += row(shown == 0 ? "GIDs" : "", gid(entry, chosen), style);
    ++shown;
  }
  return has_only_roce_v1(list)
             ? out +
                   row("", "RoCE v1 only: see the adapter's \"Device Protocol\" in vSphere", style)
             : out;
}

std::string managed_by(const Json& adapter) {
  std::string who = text(adapter, "managed_by").value_or("");
  if (who == "agent") return "pvrdma-agent";
  if (who == "nobody") return "nobody (pvrdma-agent only observes this link)";
  return who;
}

std::string transitions(const Json& adapter, const Style& style) {
  std::vector<std::string> parts;
  const auto count = number(adapter, "transitions");
  const auto last = text(adapter, "last_change");
  if (count && *count > 0)
    parts.push_back(std::to_string(*count) + " of the port state" +
                    (last && !last->empty() ? ", last " + moment(*last, style.now) : ""));
  if (const auto moves = number(adapter, "gid_moves"); moves && *moves > 0)
    parts.push_back(std::to_string(*moves) + " of a GID's index");
  return joined(parts);
}

std::string unreadable_rows(const Json& adapter, const Style& style) {
  std::string out;
  for (const std::string& entry : texts(adapter, "unreadable"))
    out += row(out.empty() ? "Unreadable" : "", entry, style);
  return out;
}

}  // namespace

std::string render_adapter(const Json& adapter, const Style& style) {
  const std::string state = state_of(adapter);
  std::string out = painted(text(adapter, "function").value_or("adapter"), Colour::Bold, style) +
                    "  " + painted(state, colour_of_state(state), style) + "\n";
  out += row("Driver", driver(adapter), style);
  out += row("RDMA device", rdma_device(adapter), style);
  out += row("Port", port(adapter), style);
  out += row("Interface", interface(adapter), style);
  out += row("Paired with", pairing(adapter), style);
  const auto addresses = texts(adapter, "addresses");
  if (list_of(adapter, "addresses").empty() && text(adapter, "netdev"))
    out += row("Addresses", "none", style);
  out += row("Addresses", joined(addresses), style);
  out += gids(adapter, style);
  out += row("Managed by", managed_by(adapter), style);
  out += row("Changes", transitions(adapter, style), style);
  return out + unreadable_rows(adapter, style);
}

}  // namespace pvrdma::ctl
