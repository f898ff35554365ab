// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/export/formats.hpp"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "agent/base/format.hpp"
#include "agent/base/text.hpp"
#include "agent/model/identifiers.hpp"

namespace pvrdma::exports {

namespace {

using Json = nlohmann::ordered_json;

// "uverbs0"
bool is_uverbs(std::string_view name) {
  constexpr std::string_view kPrefix = "uverbs";
  if (!name.starts_with(kPrefix)) return false;
  const std::string_view number = name.substr(kPrefix.size());
  return !number.empty() && number.size() <= 4 &&
         std::all_of(number.begin(), number.end(), is_digit);
}

// "0000:13:00.1"
bool is_function(std::string_view address) { return pci_address(address) == address; }

Json node(const std::string& name) {
  return {{"path", "/dev/infiniband/" + name}, {"type", "c"}, {"permissions", "rw"}};
}

Json device(const std::string& name, Json nodes, bool connection_manager) {
  if (connection_manager) nodes.push_back(node("rdma_cm"));
  return {{"name", name}, {"containerEdits", {{"deviceNodes", std::move(nodes)}}}};
}

Json adapter_of(const AdapterHealth& health) {
  const Netdev* netdev = health.adapter.netdev.get();
  const RdmaDevice* rdma = health.adapter.rdma_device.get();
  const bool has_port_state = rdma != nullptr && rdma->port.state.is_known();
  return {{"function", health.adapter.function},
          {"mac", netdev == nullptr ? Json{} : Json(netdev->mac)},
          {"device", rdma == nullptr ? Json{} : Json(rdma->name)},
          {"port", has_port_state ? Json(to_string(*rdma->port.state.get())) : Json{}},
          {"state", to_string(health.state)}};
}

Json finding_of(const Finding& finding) {
  Json json{{"id", to_string(finding.id)}, {"severity", to_string(finding.severity)}};
  if (finding.adapter) json["adapter"] = *finding.adapter;
  return json;
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

// Adds adapters and findings one by one until one does not fit: "left_off" counts that one and the
// rest.
void fill(Json& document, const std::vector<Json>& adapters, const std::vector<Json>& findings) {
  constexpr std::size_t kLeftOff = 32;  // bytes for the count
  std::size_t bytes = dumped(document).size() + kLeftOff;
  std::size_t added = 0;
  const auto add = [&](const char* list, const std::vector<Json>& from, std::size_t at) {
    if (at >= from.size()) return true;
    bytes += dumped(from[at]).size() + 1;
    if (bytes > kGuestinfoLimitBytes) return false;
    document[list].push_back(from[at]);
    ++added;
    return true;
  };
  const std::size_t longer = std::max(adapters.size(), findings.size());
  for (std::size_t at = 0; at < longer; ++at)
    if (!add("adapters", adapters, at) || !add("findings", findings, at)) break;
  if (const std::size_t left = adapters.size() + findings.size() - added)
    document["left_off"] = left;
}

}  // namespace

std::optional<std::string> cdi(const Health& health, const Belongs& belongs,
                               bool connection_manager) {
  Json devices = Json::array();
  Json all = Json::array();
  for (const AdapterHealth& adapter : health.adapters) {
    const RdmaDevice* rdma = adapter.adapter.rdma_device.get();
    const std::string* uverbs = rdma == nullptr ? nullptr : rdma->uverbs.get();
    if (uverbs == nullptr || !is_uverbs(*uverbs) || !is_function(adapter.adapter.function))
      continue;
    if (!belongs(adapter.adapter.function, *uverbs)) continue;
    devices.push_back(
        device(adapter.adapter.function, Json::array({node(*uverbs)}), connection_manager));
    all.push_back(node(*uverbs));
  }
  if (devices.empty()) return std::nullopt;
  devices.push_back(device("all", std::move(all), connection_manager));
  return Json{{"cdiVersion", "0.5.0"}, {"kind", kCdiKind}, {"devices", std::move(devices)}}.dump(
             2) +
         "\n";
}

std::string node_features(const Health& health, const Moment& now, Milliseconds lifetime) {
  const std::size_t ready = count(health.adapters, State::Ready);
  return formatted(
      "# +expiry-time={}\n"
      "pvrdma.io/state={}\n"
      "pvrdma.io/ready={}\n"
      "pvrdma.io/adapters={}\n"
      "pvrdma.io/adapters-ready={}\n",
      wall_time(now.boot + lifetime, now), to_string(health.state),
      health.state == State::Ready ? "true" : "false", health.adapters.size(), ready);
}

std::string guestinfo(const Health& health, const Edition& edition) {
  constexpr std::size_t kSummaryChars = 200;
  Json document{{"version", 1},
                {"updateCounter", edition.counter},
                {"publishTime", wall_time(edition.now.boot, edition.now)},
                {"bootId", edition.boot_id},
                {"state", to_string(health.state)},
                {"summary", printable(health.summary, kSummaryChars)},
                {"adapters", Json::array()},
                {"findings", Json::array()}};
  std::vector<Json> adapters, findings;
  std::ranges::transform(health.adapters, std::back_inserter(adapters), adapter_of);
  std::ranges::transform(health.findings, std::back_inserter(findings), finding_of);
  fill(document, adapters, findings);
  return dumped(document);
}

}  // namespace pvrdma::exports
