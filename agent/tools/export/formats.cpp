#include "agent/tools/export/formats.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "agent/base/format.hpp"
#include "agent/base/text.hpp"

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
bool is_function(std::string_view address) {
  constexpr std::string_view kForm = "xxxx:xx:xx.d";
  return std::equal(address.begin(), address.end(), kForm.begin(), kForm.end(),
                    [](char c, char form) {
                      return form == 'x' ? is_hex(c) : form == 'd' ? is_digit(c) : c == form;
                    });
}

Json node(const std::string& name) {
  return {{"path", "/dev/infiniband/" + name}, {"type", "c"}, {"permissions", "rw"}};
}

Json device(const std::string& name, Json nodes, bool connection_manager) {
  if (connection_manager) nodes.push_back(node("rdma_cm"));
  return {{"name", name}, {"containerEdits", {{"deviceNodes", std::move(nodes)}}}};
}

Json adapter_of(const AdapterHealth& health) {
  const Netdev* netdev = health.adapter.netdev.get();
  const RdmaDevice* rdma = health.adapter.rdma.get();
  const bool has_port_state = rdma != nullptr && rdma->port.state.is_known();
  return {{"function", health.adapter.function},
          {"mac", netdev == nullptr ? Json{} : Json(netdev->mac)},
          {"device", rdma == nullptr ? Json{} : Json(rdma->name)},
          {"port", has_port_state ? Json(*rdma->port.state.get()) : Json{}},
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

// Takes the last of the longer list away; false: there is nothing left to take.
bool shorten(Json& document) {
  Json& adapters = document["adapters"];
  Json& findings = document["findings"];
  Json& longer = adapters.size() > findings.size() ? adapters : findings;
  if (longer.empty()) return false;
  longer.erase(longer.size() - 1);
  document["left_off"] = document.value("left_off", 0) + 1;
  return true;
}

}  // namespace

std::optional<std::string> cdi(const Health& health, bool connection_manager) {
  Json devices = Json::array();
  Json all = Json::array();
  for (const AdapterHealth& adapter : health.adapters) {
    const RdmaDevice* rdma = adapter.adapter.rdma.get();
    const std::string* uverbs = rdma == nullptr ? nullptr : rdma->uverbs.get();
    if (uverbs == nullptr || !is_uverbs(*uverbs) || !is_function(adapter.adapter.function))
      continue;
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
  const auto ready =
      std::count_if(health.adapters.begin(), health.adapters.end(),
                    [](const AdapterHealth& adapter) { return adapter.state == State::Ready; });
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
  for (const AdapterHealth& adapter : health.adapters)
    document["adapters"].push_back(adapter_of(adapter));
  for (const Finding& finding : health.findings)
    document["findings"].push_back(finding_of(finding));
  std::string text = dumped(document);
  while (text.size() > kGuestinfoLimitBytes && shorten(document)) text = dumped(document);
  return text;
}

}  // namespace pvrdma::exports
