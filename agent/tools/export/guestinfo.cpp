// The verdict in the few words that a guestinfo variable may have.

#include <nlohmann/json.hpp>

#include "agent/base/text.hpp"
#include "agent/tools/export/formats.hpp"

namespace pvrdma::exports {

namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const T* value) {
  return value == nullptr ? Json{} : Json(*value);
}

Json adapter_of(const AdapterHealth& health) {
  const Netdev* netdev = health.adapter.netdev.get();
  const RdmaDevice* rdma = health.adapter.rdma.get();
  return {{"function", health.adapter.function},
          {"mac", netdev == nullptr ? Json{} : Json(netdev->mac)},
          {"device", rdma == nullptr ? Json{} : Json(rdma->name)},
          {"port", rdma == nullptr ? Json{} : or_null(rdma->port.state.get())},
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
