#include "probes/networkd.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "agent/base/text.hpp"
#include "probes/link_owner.hpp"

namespace pvrdma::probes {

namespace {

constexpr const char* kNetworkd = "systemd-networkd.service";

// The value of "NAME=…" on a line of its own; empty where there is none.
std::string value_of(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = cut(text, '\n');
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == '=')
      return std::string{line.substr(name.size() + 1)};
  }
  return {};
}

}  // namespace

Field<LinkOwner> parse_networkd_link(const std::string& state) {
  const std::string setup = value_of(state, "ADMIN_STATE");
  if (setup == "unmanaged") return {};
  constexpr std::array kUndecided{"", "pending", "initialized"};
  const bool decided = std::find(kUndecided.begin(), kUndecided.end(), setup) == kUndecided.end();
  return LinkOwner{LinkManager::Networkd, decided, value_of(state, "NETWORK_FILE")};
}

Field<LinkOwner> networkd_owner(const Root& root, int index) {
  const LinkOwner undecided{LinkManager::Networkd, false, {}};
  if (!service_runs(root, kNetworkd))
    return service_is_enabled(root, kNetworkd) ? Field<LinkOwner>{undecided} : Field<LinkOwner>{};
  const auto state = read_attribute(root / "/run/systemd/netif/links" / std::to_string(index));
  if (state) return parse_networkd_link(*state);
  return means_absent(state.error()) ? Field<LinkOwner>{undecided}
                                     : Field<LinkOwner>::unreadable(state.error());
}

}  // namespace pvrdma::probes
